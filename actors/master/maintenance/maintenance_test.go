package maintenance

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

func TestOpenFilesText(t *testing.T) {
	for _, tt := range []struct {
		accepted, soft, hard, wanted uint64
		level                        slog.Level
		want                         []string
	}{
		{250, 1000, 1000, 1000, 0, nil},
		{251, 1000, 1000, 1000, slog.LevelInfo, []string{"accepted minion keys(251)", "soft setting(1000)",
			"raising this value"}},
		{334, 1000, 1000, 1000, slog.LevelWarn, []string{"keys(334)"}},
		{500, 1000, 1000, 1000, levelCritical, []string{"keys(500)"}},
		{1000, 1000, 4000, 1000, levelCritical, []string{"crash pretty soon", "margin of 3000"}},
	} {
		level, got := openFilesText(tt.accepted, tt.soft, tt.hard, tt.wanted)
		if level != tt.level || (got == "") != (tt.want == nil) {
			t.Errorf("%+v: got %v %q", tt, level, got)
		}
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%+v: got %q", tt, got)
			}
		}
	}
}

func TestRemoveOlder(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": 2 * time.Hour, "young": time.Minute} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now.Add(-age),
			now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(removeOlder(dir, now.Add(-time.Hour), 0), removeOlder(filepath.Join(dir, "no"), now,
		time.Hour),
		removeOlder(dir, now.Add(-time.Hour), time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := names(dir); err != nil || !cmp.Equal(left, []string{"young"}) {
		t.Errorf("left %q, %v", left, err)
	}
}

func TestSchedule(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	var s dueTimes
	for _, tt := range []struct {
		now         int
		loop, alive bool
	}{{0, true, true}, {1, false, false}, {5, false, true}, {59, false, true}, {60, true, false}, {64, false, true},
		{200, true, true}} {
		var loop, alive bool
		if s, loop, alive = s.next(at(tt.now), time.Minute); loop != tt.loop || alive != tt.alive {
			t.Errorf("at %d: loop %v, alive %v", tt.now, loop, alive)
		}
	}
}

// TestMaintenanceGoesOn: one piece that fails does not keep the others from their work.
func TestMaintenanceGoesOn(t *testing.T) {
	log := actortest.NewLog()
	did := make(chan string, 100)
	broken := errors.New("broken")
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "Maintenance", New: func() supervisor.Actor {
		return &maintenance{opt: maintenanceOptions{loop: time.Hour, past: &remembered{}, log: log.Logger(),
			takeDrop: func() (bool, error) { return false, broken }, rotate: func() error { return broken },
			changed: func() (time.Time, time.Time) {
				return time.Now(), time.Now()
			}, accepted: func() ([]string, error) {
				return nil, broken
			}, sessions: func() ([]string, error) { return []string{"x"}, nil },
			revoke: func(string) error {
				return broken
			}, alive: func() {}, jobs: func(time.Time) { did <- "jobs" }, facts: func() {},
			tasks: []func(time.Time) error{func(time.Time) error {
				did <- "one"
				return broken
			}, func(time.Time) error { did <- "two"; return nil }},
			fire: func(string, *payload.Map) {}}}
	}})
	ref.Send(&RotateKey{})
	for _, want := range []string{"jobs", "one", "two"} {
		if got := actortest.Wait(t, want, did); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, text := range []string{"sessions cannot be compared", "the request for a new key cannot be read",
		"maintenance failed", "the shared key cannot be rotated"} {
		log.Await(t, text)
	}
}
