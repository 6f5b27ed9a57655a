package main

import (
	"context"
	"fmt"
	"testing"

	"brine/cmd/fleet"
	"brine/cmd/session"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// busySite is a site whose master accepts every key. Emulated minions keep the master busy.
type busySite struct {
	*silentSite
	f    *fleet.Fleet
	size int
}

// beBusy starts the master, and minions emu... that answer jobs with the function answer, called from several
// goroutines. It waits until they are up. troubled means that errors of the minions at the end of the test are
// ignored.
func (s *silentSite) beBusy(t *testing.T, minions int, troubled bool,
	answer func(id string, load *payload.Map) any) *busySite {
	t.Helper()
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		t.Fatal(err)
	}
	s.write("etc/master/master", fmt.Sprintf("root_dir: %s\ninterface: 127.0.0.1\npublish_port: %d\nret_port: "+
		"%d\nuser: %s\nauto_accept: True\n",
		s.path("m"), s.pub, s.ret, session.RunningUser()), 0o644)
	s.start("master", "salt-master")
	ctx, cancel := context.WithCancel(context.Background())
	f, err := fleet.Start(ctx, fleet.Options{Minions: minions, Prefix: "emu", Host: "127.0.0.1", RetPort: s.ret,
		Key: key, Answer: answer})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := f.Wait(); err != nil && !troubled {
			t.Error(err)
		}
	})
	b := &busySite{silentSite: s, f: f, size: minions}
	b.until(t, "the emulated minions are up", b.up)
	return b
}

// up tells whether all minions are up.
func (b *busySite) up() bool { return b.f.Counts().Up == int64(b.size) }
