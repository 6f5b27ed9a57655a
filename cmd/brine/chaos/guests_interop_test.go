//go:build interop

package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// guestReleases are the releases of Salt whose minions take part.
var guestReleases = []string{"3008", "3006"}

// guestConf makes a Salt minion log which of its returns were acknowledged. After "Returning information for
// job" the same process logs "ret_val" only when the master has answered.
const guestConf = `multiprocessing: True
log_level: trace
log_granular_levels:
  salt: info
  salt.minion: trace
  asyncio: info
log_fmt_console: '%(process)d %(message)s'
`

// invite adds minions of Salt.
func (f *fleet) invite() {
	f.t.Helper()
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			f.t.Fatal(err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	for _, release := range guestReleases {
		dir := filepath.Join(cache, release)
		if _, err := os.Stat(filepath.Join(dir, ".complete")); err != nil {
			f.t.Fatalf("salt %s is not installed (run .ci/salt-peers): %v", release, err)
		}
		id := "s" + release
		f.writeMinion(id, guestConf)
		m := f.member(id, "salt-minion", "")
		m.argv = []string{filepath.Join(dir, "bin", "salt-minion"), "-c", f.path("etc/" + id), "--disable-keepalive"}
		m.env = append(m.env, "PYTHONWARNINGS=ignore")
		f.guests = append(f.guests, m)
	}
}

// guestPause is the wait for a Salt minion's answer before the next question.
const guestPause = 5 * time.Second

func (f *fleet) guestIDs() []string { return f.ids()[len(f.minions):] }

// guestPatience is the time in which a Salt minion should come back on its own. One of 3008 does not always do
// so: if it loses its connection during a sign-in, its AsyncAuth ends with an InvalidStateError, and it
// receives nothing any more.
const guestPatience = 15 * time.Second

// backOfGuests waits until the Salt minions answer. It restarts and counts those that do not. Before the first
// round all must answer.
func (f *fleet) backOfGuests(ctx context.Context) error {
	f.deaf = map[string]bool{}
	for _, id := range f.guestIDs() {
		f.deaf[id] = true
	}
	limit, first := guestPatience, f.statics == nil
	if first {
		limit = patience
	}
	err := f.ping(ctx, f.guestIDs(), limit, guestPause, func(id string, _ time.Time) { delete(f.deaf, id) })
	if err == nil || first {
		return err
	}
	for _, m := range f.guests {
		if f.deaf[m.id] {
			f.report.revived++
			f.note("%s did not come back and is started anew", m.id)
			m.killAll()
			if err := m.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// restOfGuests waits until the Salt minions have answered all jobs that they had begun.
func (f *fleet) restOfGuests(ctx context.Context) error {
	c := f.client()
	defer c.Close()
	ids := slices.DeleteFunc(f.guestIDs(), func(id string) bool { return f.deaf[id] })
	if len(ids) == 0 {
		return nil
	}
	return until(ctx, "rest of Salt's minions", func() error {
		j := &job{fun: "saltutil.running", jid: f.jid(), wanted: ids}
		(&load{fleet: f}).publish(ctx, c, j, nil)
		wait, cancel := context.WithTimeout(ctx, guestPause)
		defer cancel()
		f.bus.await(wait, j.jid, len(ids))
		for _, id := range ids {
			if said := f.bus.of(j.jid)[id].outcome; !strings.HasPrefix(said, "[] ") {
				return fmt.Errorf("%s has in hand: %.500s", id, said)
			}
		}
		return nil
	})
}

var (
	returning = regexp.MustCompile(`^(\d+) Returning information for job: (\d+)`)
	thanks    = regexp.MustCompile(`^(\d+) ret_val = `)
)

// thanked returns the jobs of a Salt minion whose returns the master has acknowledged.
func (f *fleet) thanked(id string) map[string]bool {
	raw, err := os.ReadFile(f.path(id + ".log"))
	if err != nil {
		f.t.Error(err)
	}
	by, found := map[string]string{}, map[string]bool{} // current job of each process
	for line := range strings.Lines(string(raw)) {
		if m := returning.FindStringSubmatch(line); m != nil {
			by[m[1]] = m[2]
		} else if m := thanks.FindStringSubmatch(line); m != nil && by[m[1]] != "" {
			found[by[m[1]]] = true
			delete(by, m[1])
		}
	}
	f.note("%s: %d returns acknowledged", id, len(found))
	return found
}

// killAll kills a Salt minion and all its child processes.
func (m *member) killAll() {
	for _, p := range below(processes(), m.pid()) {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended already
	}
	m.kill()
}
