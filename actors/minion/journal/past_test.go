package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/wire/auth"
	"brine/wire/payload"
)

// past opens the file of a test as the next process does.
func past(t *testing.T, path string, now time.Time) *Past {
	t.Helper()
	p, err := OpenPast(path, 7*24*time.Hour, false, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func takes(t *testing.T, p *Past, jid string, mark auth.Mark, now time.Time) {
	t.Helper()
	if err := p.Take(jid, mark, now); err != nil {
		t.Fatal(err)
	}
}

// TestPastJobsOutliveTheProcess: what was taken is known to the next process, whatever the clock of this machine says
// by then.
func TestPastJobsOutliveTheProcess(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "cache", "jobs.past"), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	jid := payload.NewJID(now)
	p := past(t, path, now)
	takes(t, p, jid, auth.Mark{Key: "k", Serial: 7}, now)
	takes(t, p, "nightly", auth.Mark{Key: "k", Serial: 9}, now)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	for _, later := range []time.Duration{0, time.Hour, -time.Hour, -30 * 365 * 24 * time.Hour,
		30 * 365 * 24 * time.Hour} {
		p := past(t, path, now.Add(later))
		for _, tt := range []struct {
			jid  string
			mark auth.Mark
			want bool
		}{
			{jid, auth.Mark{}, true},
			{jid, auth.Mark{Key: "k", Serial: 12}, true},
			{"nightly", auth.Mark{}, true},
			{"nightly", auth.Mark{Key: "k", Serial: 12}, false},
			{payload.NewJID(now.Add(time.Second)), auth.Mark{}, false},
		} {
			if got := p.Has(tt.jid, tt.mark); got != tt.want {
				t.Errorf("%v later: has(%s, %v) is %v", later, tt.jid, tt.mark, got)
			}
		}
		if n := p.SerialNow()("k"); n != 9 {
			t.Errorf("%v later: the number is %d", later, n)
		}
	}
}

// TestOutdated: a jid is refused for its age only when both clocks say so and the master has not numbered it.
func TestOutdated(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return payload.NewJID(now.Add(d)) }
	for _, tt := range []struct {
		name   string
		newest time.Duration // of the jids that were taken, by this machine's clock
		jid    string
		mark   auth.Mark
		want   bool
	}{
		{"fresh", 0, at(0), auth.Mark{}, false},
		{"in local time, west", 0, at(-12 * time.Hour), auth.Mark{}, false},
		{"in local time, east", 0, at(14 * time.Hour), auth.Mark{}, false},
		{"of a batch since yesterday", 0, at(-day), auth.Mark{}, false},
		{"old", 0, at(-8 * day), auth.Mark{}, true},
		{"old, in a form with the process", 0, at(-8*day) + "_1234", auth.Mark{}, true},
		{"of a batch since weeks", 0, at(-30 * day), auth.Mark{Key: "k", Serial: 3}, false},
		{"this clock is a year ahead", -365 * day, at(-365 * day), auth.Mark{}, false},
		{"this clock is a year behind", 365 * day, at(365 * day), auth.Mark{}, false},
		{"a client has chosen a jid of the next century", 100 * 365 * day, at(0), auth.Mark{}, false},
		{"a name", 0, "nightly", auth.Mark{}, false},
		{"no date", 0, "00000000000000000000", auth.Mark{}, false},
	} {
		p := past(t, filepath.Join(t.TempDir(), "jobs.past"), now)
		takes(t, p, at(tt.newest), auth.Mark{}, now)
		if got := p.Outdated(tt.jid, tt.mark, now); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if p := past(t, filepath.Join(t.TempDir(), "jobs.past"), now); p.Outdated(at(-8*day), auth.Mark{}, now) {
		t.Error("a minion that has taken nothing refuses a job")
	}
}

// TestPastJobsAreBounded: in number, in the file and in memory; what is forgotten for its age is refused for it.
func TestPastJobsAreBounded(t *testing.T) {
	path, start := filepath.Join(t.TempDir(), "jobs.past"), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p, now := past(t, path, start), start
	for i := range 5 * maxPastJobs / 4 {
		now = start.Add(time.Duration(i) * time.Minute)
		takes(t, p, payload.NewJID(now), auth.Mark{Key: fmt.Sprint(i / 1440), Serial: int64(i)}, now)
	}
	if len(p.jobs) > maxPastJobs || len(p.known) != len(p.jobs) || len(p.serials) > maxPastSerials {
		t.Errorf("%d jobs, %d known, %d shared keys", len(p.jobs), len(p.known), len(p.serials))
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 4<<20 {
		t.Errorf("the file: %v, %v", info, err)
	}
	again := past(t, path, now)
	old := payload.NewJID(start)
	if again.Has(old, auth.Mark{}) || !again.Outdated(old, auth.Mark{}, now) {
		t.Error("an old job is neither forgotten nor refused for its age")
	}
	if young := payload.NewJID(now.Add(-6 * 24 * time.Hour)); !again.Has(young, auth.Mark{}) {
		t.Error("a job of this week is forgotten")
	}
}

// TestPastJobsFileFails: what cannot be written is known to this process, and is written as soon as it can be; a file
// that was cut, damaged or removed costs nothing but what only it knew.
func TestPastJobsFileFails(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(dir, "jobs.past")
	p := past(t, path, now)
	takes(t, p, "a", auth.Mark{}, now)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	takes(t, p, "b", auth.Mark{}, now)
	if err := os.Truncate(path, 5); err != nil {
		t.Fatal(err)
	}
	takes(t, p, "c", auth.Mark{}, now)
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	p.sync = true
	if err := p.Take("d", auth.Mark{}, now); err == nil || !p.Has("d", auth.Mark{}) {
		t.Errorf("a directory in its place: %v", err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	takes(t, p, "e", auth.Mark{Key: "k", Serial: 3}, now)
	check := func(p *Past, what string) {
		t.Helper()
		for _, jid := range []string{"a", "b", "c", "d", "e"} {
			if !p.Has(jid, auth.Mark{}) {
				t.Errorf("%s: %s is forgotten", what, jid)
			}
		}
		if p.serial("k") != 3 {
			t.Errorf("%s: the number is forgotten", what)
		}
	}
	check(past(t, path, now), "written again")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("half a record")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	torn, err := OpenPast(path, time.Hour, false, now, nil)
	if err == nil {
		t.Error("a torn end is not told of")
	}
	check(torn, "with a torn end")
	takes(t, torn, "f", auth.Mark{}, now)
	next := past(t, path, now)
	check(next, "after a torn end")
	if !next.Has("f", auth.Mark{}) {
		t.Error("what came after a torn end is forgotten")
	}
}

func BenchmarkPastJobs(b *testing.B) {
	p, err := OpenPast(filepath.Join(b.TempDir(), "jobs.past"), 7*24*time.Hour, false, time.Now(), nil)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	for i := 0; b.Loop(); i++ {
		if err := p.Take(payload.NewJID(now.Add(time.Duration(i)*time.Microsecond)),
			auth.Mark{Key: "0123456789abcdef0123456789abcdef", Serial: int64(i)}, now); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPastJobsWithClocksAhead: when the clocks of master and minion are a year ahead for a while, jids that were taken
// before are refused all the same, then and later.
func TestPastJobsWithClocksAhead(t *testing.T) {
	const keep = 7 * 24 * time.Hour
	path, now := filepath.Join(t.TempDir(), "jobs.past"), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	calm := true
	open := func(now time.Time) *Past {
		t.Helper()
		p, err := OpenPast(path, keep, false, now, func() bool { return calm })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	young := payload.NewJID(now)
	takes(t, open(now), young, auth.Mark{}, now)
	calm = false
	for range 3 {
		ahead := open(now.Add(year))
		if !ahead.Has(young, auth.Mark{}) {
			t.Fatal("forgotten by a minion whose clock is a year ahead")
		}
		takes(t, ahead, payload.NewJID(now.Add(year)), auth.Mark{}, now.Add(year))
		ahead.size = -1 // it is written anew
		takes(t, ahead, payload.NewJID(now.Add(year+time.Second)), auth.Mark{}, now.Add(year))
	}
	calm = true
	if p := open(now); !p.Has(young, auth.Mark{}) {
		t.Error("forgotten when the clock is right again")
	}
	if p := open(now.Add(year + keep/2)); p.Has(young, auth.Mark{}) {
		t.Error("kept for ever")
	}
}

const year = 365 * 24 * time.Hour
