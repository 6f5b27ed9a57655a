package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/modules/schedule/dates"
	"brine/wire/payload"
)

// plain are options without any limit.
func plain() Options {
	return Options{
		Loop: time.Second, Random: func(low, _ int64) int64 { return low }, Known: func(string) bool { return true },
		Running: func(string) int { return 0 }, JID: func() string { return "JID" },
	}
}

// job is a schedule of one job that does not run at the start.
func job(kv ...any) *payload.Map {
	job := payload.M("function", "test.ping", "run_on_start", false)
	job.Update(payload.M(kv...))
	return payload.M("job", job)
}

// TestZones looks at the schedule each second of real time while the clocks on the wall are set, and tells when it ran.
func TestZones(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no zones on this machine")
	}
	autumn := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC) // 2:00 on the wall; at 3:00 it is 2:00 again
	spring := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC) // 1:30; at 2:00 it is 3:00
	for _, tt := range []struct {
		name string
		from time.Time
		job  *payload.Map
		want []string
	}{
		{"an interval goes on in autumn", autumn, job("minutes", 25), []string{"02:25:00", "02:50:00", "02:25:00",
			"02:50:00"}},
		{"an interval goes on in spring", spring, job("minutes", 25), []string{"01:55:00", "03:00:00", "03:25:00",
			"03:50:00", "04:15:00"}},
		{"cron of one hour runs once in autumn", autumn, job("cron", "30 2 * * *"), []string{"02:30:00"}},
		{"cron of every hour goes on in autumn", autumn, job("cron", "30 * * * *"), []string{"02:30:00", "02:30:00"}},
		{"cron of an hour that is left out runs when it is over", spring, job("cron", "30 2 * * *"),
			[]string{"03:00:00"}},
		{"when runs once in autumn", autumn, job("when", "2:30"), []string{"02:30:00"}},
		{"once runs once in autumn", autumn, job("once", "2026-10-25T02:30:00"), []string{"02:30:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(tt.job, nil)
			var ran []string
			for i := range 2*3600 - 1 {
				now := dates.Wall(tt.from.Add(time.Duration(i) * time.Second).In(berlin))
				var runs []Run
				if s, runs, _ = s.Next(now, plain()); len(runs) > 0 {
					ran = append(ran, now.Format("15:04:05"))
				}
			}
			if !slices.Equal(ran, tt.want) {
				t.Errorf("it ran at %v, want %v", ran, tt.want)
			}
		})
	}
}

// TestClocks looks at a schedule while the clock does what clocks do.
func TestClocks(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name  string
		job   *payload.Map
		looks []time.Duration // after the beginning, which is 10:20:30
		want  string          // numbers of the looks at which the job ran
	}{
		{"suspended: an interval runs once afterwards", job("minutes", 1), []time.Duration{0, 5 * time.Hour,
			5*time.Hour + time.Second}, "[1]"},
		{"suspended: cron runs once afterwards", job("cron", "* * * * *"), []time.Duration{0, 5 * time.Hour,
			5*time.Hour + time.Second}, "[1]"},
		{"suspended: when is over", job("when", "11:00"), []time.Duration{0, 5 * time.Hour, 5*time.Hour + time.Second},
			"[]"},
		{"suspended: when comes the next day", job("when", "11:00"), []time.Duration{0, 5 * time.Hour, day,
			day + 39*time.Minute + 30*time.Second}, "[3]"},
		{"late: when is still run", job("when", "10:20:40"), []time.Duration{0, 30 * time.Second, 31 * time.Second},
			"[1]"},
		{"late: once is still run", job("once", "2026-11-23T10:20:40"), []time.Duration{0, 30 * time.Second,
			31 * time.Second}, "[1]"},
		{"two looks in a second: once", job("once", "2026-11-23T10:20:31"), []time.Duration{0, time.Second,
			1500 * time.Millisecond, 2 * time.Second}, "[1]"},
		{"two looks in a second: when", job("when", "10:20:31"), []time.Duration{0, time.Second,
			1500 * time.Millisecond, 2 * time.Second}, "[1]"},
		{"two looks in a second: explicit", job("hours", 1, "run_explicit",
			[]any{payload.M("time", "2026-11-23T10:20:31", "time_fmt", "%Y-%m-%dT%H:%M:%S")}),
			[]time.Duration{0, time.Second, 1500 * time.Millisecond, 2 * time.Second}, "[1]"},
		{"a year ahead and back: an interval", job("minutes", 1), []time.Duration{0, 365 * day, 365*day + time.Second,
			0, time.Minute}, "[1 4]"},
		{"a year ahead and back: an interval with a splay", job("minutes", 1, "splay", 5), []time.Duration{0, 365 * day,
			365*day + time.Second, 0, time.Second, 66 * time.Second, 67 * time.Second}, "[1 5]"},
		{"a year ahead and back: cron", job("cron", "30 10 * * *"), []time.Duration{0, 365 * day, 365*day + time.Second,
			0, 570 * time.Second}, "[1 4]"},
		{"a year ahead and back: when", job("when", "10:30"), []time.Duration{0, 365 * day, 365*day + time.Second, 0,
			570 * time.Second}, "[4]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(tt.job, nil)
			begin := time.Date(2026, 11, 23, 10, 20, 30, 0, time.UTC)
			ran := []int{}
			for i, look := range tt.looks {
				var runs []Run
				if s, runs, _ = s.Next(begin.Add(look), plain()); len(runs) > 0 {
					ran = append(ran, i)
				}
			}
			if got := fmt.Sprint(ran); got != tt.want {
				t.Errorf("it ran at the looks %s, want %s", got, tt.want)
			}
		})
	}
}

// TestNextIsPure asks the same state twice and gets the same answer, and the schedule it was given is as it was.
func TestNextIsPure(t *testing.T) {
	given := job("seconds", 1, "run_on_start", true, "run_after_skip_range", true, "skip_during_range",
		payload.M("start", "10:00", "end", "11:00"))
	before := New(given, nil)
	s := before
	now := time.Date(2026, 11, 23, 10, 20, 30, 0, time.UTC)
	for range 3 {
		_, runs, _ := s.Next(now, plain())
		_, again, _ := s.Next(now, plain())
		if len(runs) != len(again) {
			t.Errorf("%d runs, then %d", len(runs), len(again))
		}
		s, _, _ = s.Next(now, plain())
		now = now.Add(time.Second)
	}
	if !before.options.Equal(given) {
		t.Errorf("the schedule is %v now", before.options.Map("job").Keys())
	}
}

// TestOneBadJob keeps the others going, whatever is wrong with one, and says what it is.
func TestOneBadJob(t *testing.T) {
	for _, bad := range []any{
		"text", nil, int64(5), []any{}, payload.M("seconds", "two"), payload.M("seconds", 1, "splay", "x"),
		payload.M("seconds", 1, "splay", -5), payload.M("when", payload.M("a", 1)), payload.M("cron", 5),
		payload.M("once", nil), payload.M("seconds", 1, "run_explicit", []any{5}),
		payload.M("seconds", 1, "run_explicit", []any{payload.M()}), payload.M("seconds", int64(1)<<62),
		payload.M("days", int64(1)<<40),
	} {
		all := payload.M("bad", bad, "splay", nil, "good", payload.M("function", "test.ping", "seconds", 1))
		s, runs, said := New(all, nil).Next(time.Date(2026, 11, 23, 10, 20, 30, 0, time.UTC), plain())
		if len(runs) == 0 || runs[len(runs)-1].Name != "good" {
			t.Errorf("%v: it ran %v", bad, runs)
		}
		if len(said) == 0 || said[0].Job != "bad" {
			t.Errorf("%v: it said %v", bad, said)
		}
		s.Next(time.Date(2026, 11, 23, 10, 20, 32, 0, time.UTC), plain())
	}
}
