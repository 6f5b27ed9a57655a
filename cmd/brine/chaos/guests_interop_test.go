//go:build interop

package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// guestReleases are the releases of Salt whose minions take part.
var guestReleases = []string{"3008", "3006"}

// guestConf makes a minion of Salt say which of its returns were acknowledged: after "Returning information for job" the
// same process logs "ret_val" when the master has answered, and at no other time.
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

// guestPause is how long a minion of Salt is given for an answer before it is asked again.
const guestPause = 5 * time.Second

func (f *fleet) guestIDs() []string { return f.ids()[len(f.minions):] }

// backOfGuests waits until minions of Salt answer.
func (f *fleet) backOfGuests(ctx context.Context) error {
	return f.ping(ctx, f.guestIDs(), guestPause, func(string) {})
}

// restOfGuests waits until minions of Salt have answered what they had begun.
func (f *fleet) restOfGuests(ctx context.Context) error {
	c := f.client()
	defer c.Close()
	ids := f.guestIDs()
	return until(ctx, "rest of Salt's minions", func() error {
		j := &job{fun: "saltutil.running", jid: f.jid(), wanted: ids}
		(&load{fleet: f}).publish(ctx, c, j, nil)
		wait, cancel := context.WithTimeout(ctx, guestPause)
		defer cancel()
		f.bus.await(wait, j.jid, len(ids))
		for _, id := range ids {
			if said := f.bus.of(j.jid)[id]; !strings.HasPrefix(said, "[] ") {
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

// thanked lists the jobs of a minion of Salt whose returns the master has acknowledged.
func (f *fleet) thanked(id string) map[string]bool {
	raw, err := os.ReadFile(f.path(id + ".log"))
	if err != nil {
		f.t.Error(err)
	}
	by, found := map[string]string{}, map[string]bool{} // process → job in hand
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
