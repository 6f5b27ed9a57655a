package stats

import (
	"time"

	"brine/wire/payload"
)

// ParseChild reads the output of Child.Map. Fields that are missing or of another type are zero.
func ParseChild(m *payload.Map) Child {
	c := Child{
		Name: m.Str("name"), Path: m.Str("path"), PID: m.Str("pid"), State: m.Str("state"),
		Since: parseStamp(m.Str("since")), Incarnation: number[int](m, "incarnation"), Restarts: number[int](m,
			"restarts"), RestartsHour: number[int](m, "restarts_hour"), Mailbox: number[int](m, "mailbox"),
		OldestMS: number[int64](m, "oldest_ms"),
		Received: number[uint64](m, "received"), Sent: number[uint64](m, "sent"), Failed: number[uint64](m, "failed"),
		Abandoned: number[int](m, "abandoned"), Stuck: number[int64](m, "stuck"), Slow: number[uint64](m, "slow"),
		Quarantined: number[int](m, "quarantined"), DeadLetters: make(map[string]uint64),
		Lost: number[uint64](m, "lost"), Unhandled: number[uint64](m, "unhandled"), Rate: number[float64](m, "rate"),
		Busy: number[float64](m, "busy"), BusyMS: number[int64](m, "busy_ms"), InHand: m.Str("in_hand"),
		InHandMS: number[int64](m, "in_hand_ms"), Note: m.Str("note"), Handling: parseSpread(m.Map("handling")),
		Waiting: parseSpread(m.Map("waiting")),
	}
	if last := m.Map("last_death"); last != nil {
		d := ParseDeath(last)
		c.LastDeath = &d
	}
	if slow := m.Map("last_slow"); slow != nil {
		x := parseSlow(slow)
		c.LastSlow = &x
	}
	for kind, n := range m.Map("dead_letters").All() {
		if name, ok := kind.(string); ok {
			c.DeadLetters[name] = as[uint64](n)
		}
	}
	for _, v := range m.List("quarantine") {
		if q, ok := v.(*payload.Map); ok {
			c.Quarantine = append(c.Quarantine, parseQuarantined(q))
		}
	}
	for _, v := range m.List("deaths") {
		if d, ok := v.(*payload.Map); ok {
			c.Deaths = append(c.Deaths, ParseDeath(d))
		}
	}
	for _, v := range m.List("children") {
		if below, ok := v.(*payload.Map); ok {
			c.Children = append(c.Children, ParseChild(below))
		}
	}
	return c
}

// ParseDeath reads the output of Death.Map.
func ParseDeath(m *payload.Map) Death {
	return Death{
		Time: parseStamp(m.Str("time")), Reason: m.Str("reason"), Message: m.Str("message"), Stack: m.Str("stack"),
		Name: m.Str("name"), Path: m.Str("path"), Incarnation: number[int](m, "incarnation"),
		Status: number[int](m, "status"), Lived: number[time.Duration](m, "lived_ms") * time.Millisecond,
		Delay: number[time.Duration](m, "delay_ms") * time.Millisecond,
	}
}

func parseSlow(m *payload.Map) Slow {
	return Slow{
		Time: parseStamp(m.Str("time")), Name: m.Str("name"), Path: m.Str("path"), Incarnation: number[int](m,
			"incarnation"), Message: m.Str("message"), Running: number[time.Duration](m,
			"running_ms") * time.Millisecond, Stack: m.Str("stack"), Abandoned: m.Bool("abandoned"),
	}
}

func parseQuarantined(m *payload.Map) Quarantined {
	return Quarantined{
		Time: parseStamp(m.Str("time")), Name: m.Str("name"), Path: m.Str("path"), Message: m.Str("message"),
		Hash: m.Str("hash"), Size: number[int](m, "size"), Reason: m.Str("reason"),
	}
}

func parseSpread(m *payload.Map) Spread {
	s := Spread{Count: number[uint64](m, "count"), P50US: number[int64](m, "p50_us"), P99US: number[int64](m, "p99_us"),
		MaxUS: number[int64](m, "max_us"),
		SumUS: number[int64](m, "sum_us")}
	for _, v := range m.List("buckets") {
		s.Buckets = append(s.Buckets, as[uint64](v))
	}
	return s
}

// numeric are the kinds of numbers in a Child.
type numeric interface {
	~int | ~int64 | ~uint64 | ~float64
}

func number[T numeric](m *payload.Map, name string) T { return as[T](m.Value(name)) }

// as reads a number of a decoded message; any other value is 0.
func as[T numeric](v any) T {
	switch n := v.(type) {
	case int:
		return T(n)
	case int64:
		return T(n)
	case uint64:
		return T(n)
	case float64:
		return T(n)
	}
	return 0
}

func parseStamp(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}
