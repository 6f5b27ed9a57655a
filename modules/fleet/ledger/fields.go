package ledger

import "brine/wire/payload"

// field is one fact of a T under the name it has on disk, between minion and master, and in the JSON that operators
// get. Exactly one of its functions is set.
type field[T any] struct {
	name  string
	stamp func(*T) *Stamp
	num   func(*T) *int64
	text  func(*T) *string
	yes   func(*T) *bool
}

var jobFields = []field[Job]{
	{name: "jid", text: func(j *Job) *string { return &j.JID }},
	{name: "fun", text: func(j *Job) *string { return &j.Fun }},
	{name: "tgt", text: func(j *Job) *string { return &j.Tgt }},
	{name: "tgt_type", text: func(j *Job) *string { return &j.TgtType }},
	{name: "user", text: func(j *Job) *string { return &j.User }},
	{name: "lane", text: func(j *Job) *string { return &j.Lane }},
	{name: "worker", text: func(j *Job) *string { return &j.Worker }},
	{name: "request", stamp: func(j *Job) *Stamp { return &j.Request }},
	{name: "work", stamp: func(j *Job) *Stamp { return &j.Work }},
	{name: "matched", stamp: func(j *Job) *Stamp { return &j.Matched }},
	{name: "announced", stamp: func(j *Job) *Stamp { return &j.Announced }},
	{name: "sealed", stamp: func(j *Job) *Stamp { return &j.Sealed }},
	{name: "sent", stamp: func(j *Job) *Stamp { return &j.Sent }},
	{name: "replied", stamp: func(j *Job) *Stamp { return &j.Replied }},
	{name: "stored", stamp: func(j *Job) *Stamp { return &j.Stored }},
	{name: "failed", text: func(j *Job) *string { return &j.Failed }},
	{name: "asks", text: func(j *Job) *string { return &j.Asks }},
	{name: "bound", yes: func(j *Job) *bool { return &j.Bound }},
}

var rowFields = []field[Row]{
	{name: "id", text: func(r *Row) *string { return &r.ID }},
	{name: "worker", text: func(r *Row) *string { return &r.Worker }},
	{name: "returned", stamp: func(r *Row) *Stamp { return &r.Returned }},
	{name: "fired", stamp: func(r *Row) *Stamp { return &r.Fired }},
	{name: "stored", stamp: func(r *Row) *Stamp { return &r.Stored }},
	{name: "lost", text: func(r *Row) *string { return &r.Lost }},
	{name: "retcode", num: func(r *Row) *int64 { return &r.Retcode }},
	{name: "again", num: func(r *Row) *int64 { return &r.Again }},
	{name: "refused", text: func(r *Row) *string { return &r.Refused }},
	{name: "refused_at", stamp: func(r *Row) *Stamp { return &r.RefusedAt }},
	{name: "found_at", stamp: func(r *Row) *Stamp { return &r.FoundAt }},
	{name: "running", yes: func(r *Row) *bool { return &r.Running }},
}

var minionFields = []field[Minion]{
	{name: "received", stamp: func(m *Minion) *Stamp { return &m.Received }},
	{name: "queued", stamp: func(m *Minion) *Stamp { return &m.Queued }},
	{name: "behind", num: func(m *Minion) *int64 { return &m.Behind }},
	{name: "started", stamp: func(m *Minion) *Stamp { return &m.Started }},
	{name: "ended", stamp: func(m *Minion) *Stamp { return &m.Ended }},
	{name: "made", stamp: func(m *Minion) *Stamp { return &m.Made }},
	{name: "spooled", stamp: func(m *Minion) *Stamp { return &m.Spooled }},
	{name: "tried", stamp: func(m *Minion) *Stamp { return &m.Tried }},
	{name: "acked", stamp: func(m *Minion) *Stamp { return &m.Acked }},
	{name: "attempts", num: func(m *Minion) *int64 { return &m.Attempts }},
	{name: "size", num: func(m *Minion) *int64 { return &m.Size }},
	{name: "outcome", text: func(m *Minion) *string { return (*string)(&m.Outcome) }},
	{name: "detail", text: func(m *Minion) *string { return &m.Detail }},
	{name: "error", text: func(m *Minion) *string { return &m.Error }},
	{name: "now", stamp: func(m *Minion) *Stamp { return &m.Now }},
	{name: "offset", num: func(m *Minion) *int64 { return &m.Offset }},
}

var clientFields = []field[Client]{
	{name: "pid", num: func(c *Client) *int64 { return &c.PID }},
	{name: "started", stamp: func(c *Client) *Stamp { return &c.Started }},
	{name: "sent", stamp: func(c *Client) *Stamp { return &c.Sent }},
	{name: "replied", stamp: func(c *Client) *Stamp { return &c.Replied }},
	{name: "ended", stamp: func(c *Client) *Stamp { return &c.Ended }},
	{name: "why", text: func(c *Client) *string { return &c.Why }},
}

// maxText bounds a text that came from outside, in bytes.
const maxText = 1024

// write puts what is known of v into m.
func write[T any](m *payload.Map, fields []field[T], v *T) *payload.Map {
	for _, f := range fields {
		switch {
		case f.stamp != nil && *f.stamp(v) != 0:
			m.Set(f.name, int64(*f.stamp(v)))
		case f.num != nil && *f.num(v) != 0:
			m.Set(f.name, *f.num(v))
		case f.text != nil && *f.text(v) != "":
			m.Set(f.name, *f.text(v))
		case f.yes != nil && *f.yes(v):
			m.Set(f.name, true)
		}
	}
	return m
}

// read takes what m says into v. What has another type than it should is passed over.
func read[T any](m *payload.Map, fields []field[T], v *T) {
	for _, f := range fields {
		got, ok := m.Get(f.name)
		if !ok {
			continue
		}
		switch x := got.(type) {
		case int64:
			if f.stamp != nil {
				*f.stamp(v) = Stamp(x)
			} else if f.num != nil {
				*f.num(v) = x
			}
		case string:
			if f.text != nil {
				*f.text(v) = x[:min(len(x), maxText)]
			}
		case bool:
			if f.yes != nil {
				*f.yes(v) = x
			}
		}
	}
}

// merge takes what is known of newer into v.
func merge[T any](v, newer *T, fields []field[T]) {
	for _, f := range fields {
		switch {
		case f.stamp != nil && *f.stamp(newer) != 0:
			*f.stamp(v) = *f.stamp(newer)
		case f.num != nil && *f.num(newer) != 0:
			*f.num(v) = *f.num(newer)
		case f.text != nil && *f.text(newer) != "":
			*f.text(v) = *f.text(newer)
		case f.yes != nil && *f.yes(newer):
			*f.yes(v) = true
		}
	}
}

// Map is what a minion says, as it travels and as operators see it.
func (m *Minion) Map() *payload.Map {
	return write(payload.NewMap(8), minionFields, m)
}

// ReadMinion reads what a minion says of a job.
func ReadMinion(m *payload.Map) *Minion {
	out := &Minion{}
	read(m, minionFields, out)
	return out
}

// ReadClient reads what a command line says of a job.
func ReadClient(m *payload.Map) *Client {
	c := &Client{}
	read(m, clientFields, c)
	c.Seen = readStamps(m.Map("seen"))
	for _, v := range m.List("batch") {
		if id, ok := v.(string); ok {
			c.Batch = append(c.Batch, id)
		}
	}
	return c
}

// Map is what a command line says, as it travels and as operators see it.
func (c *Client) Map() *payload.Map {
	out := write(payload.NewMap(8), clientFields, c)
	if len(c.Seen) > 0 {
		out.Set("seen", stampsMap(c.Seen))
	}
	if len(c.Batch) > 0 {
		ids := payload.AnyList(c.Batch)
		out.Set("batch", ids)
	}
	return out
}
