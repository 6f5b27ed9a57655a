//go:build interop

package interop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// joins moves the keys of new minions from pending to rejected to accepted.
func (f *fleet) joins() {
	f.awaitKey("minions_pre", f.ids...)
	f.listed(f.tools, "minions_pre", f.ids...)
	if r := f.run(f.tools, "salt", "*", "test.ping"); r.code != 2 || !strings.Contains(r.stdout,
		"No minions matched the target.") {
		f.t.Errorf("a job for pending minions: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	f.mustRun(f.tools, "salt-key", "-y", "-R")
	f.awaitKey("minions_rejected", f.ids...)
	f.listed(f.tools, "minions_rejected", f.ids...)
	for _, id := range f.ids {
		f.eventually(patience, id+" to hear of it", func() error {
			return f.minions[id].says("rejected this minion's public")
		})
	}
	f.mustRun(f.tools, "salt-key", "-y", "-A", "--include-rejected")
	f.awaitKey("minions", f.ids...)
	f.listed(f.tools, "minions", f.ids...)
	f.awaitReady(f.ids...)
	f.awaitPing(f.ids...)
}

// denied restarts the minions while the master has another key for each of them.
func (f *fleet) denied() {
	f.stopMinions()
	other, err := os.ReadFile(f.masterPath("etc/salt/pki/master/master.pub"))
	if err != nil {
		f.t.Fatal(err)
	}
	own := map[string][]byte{}
	for _, id := range f.ids {
		if own[id], err = os.ReadFile(f.keyFile("minions", id)); err != nil {
			f.t.Fatal(err)
		}
		f.write(f.keyFile("minions", id), string(other))
	}
	f.startMinions()
	f.awaitKey("minions_denied", f.ids...)
	f.listed(f.tools, "minions_denied", f.ids...)
	for _, id := range f.ids {
		f.eventually(patience, id+" to hear of it", func() error {
			return f.minions[id].says("rejected this minion's public")
		})
		f.write(f.keyFile("minions", id), string(own[id]))
		if err := os.Remove(f.keyFile("minions_denied", id)); err != nil {
			f.t.Error(err)
		}
	}
	f.awaitReady(f.ids...)
	f.awaitPing(f.ids...)
}

// deletions deletes the keys of one half of the minions and then of the other. Each time the key for the
// master's publications changes. The other minions sign in again on their own, and the deleted ones become
// pending.
func (f *fleet) deletions() {
	half := (len(f.ids) + 1) / 2
	for _, part := range [][2][]string{{f.ids[:half], f.ids[half:]}, {f.ids[half:], f.ids[:half]}} {
		gone, rest := part[0], part[1]
		for _, id := range gone {
			f.mustRun(f.tools, "salt-key", "-y", "-d", id)
		}
		for _, id := range gone {
			f.eventually(patience, id+" to be pending again", func() error {
				if f.keyState(id) == "minions_pre" {
					return nil
				}
				// a job that it cannot decrypt makes it sign in again
				err := all(f.returns(brine, "-t", "5", "*", "test.ping"), true, rest...)
				return errors.Join(err, fmt.Errorf("%s is in %q", id, f.keyState(id)))
			})
		}
		f.awaitPing(rest...)
		f.mustRun(f.tools, "salt-key", "-y", "-A")
		f.awaitKey("minions", f.ids...)
		f.awaitPing(f.ids...)
	}
}

// unwanted is the minion in refuse.
const unwanted = "unwanted"

// refuse starts a minion without the option to go on asking, and rejects its key.
func (f *fleet) refuse(kind string) {
	f.configMinion(unwanted, "")
	f.stranger = f.start(kind+"-minion-"+unwanted, toolPath(f.t, kind, "salt-minion"), "-c", f.minionDir(unwanted),
		"-l", "info", "--disable-keepalive")
	f.awaitKey("minions_pre", unwanted)
	f.mustRun(f.tools, "salt-key", "-y", "-r", unwanted)
	f.awaitKey("minions_rejected", unwanted)
}

// refused waits for the end of that minion, which takes some time. Its exit status is 77, and its key stays.
func (f *fleet) refused() {
	f.eventually(patience, "end of the rejected minion", func() error {
		if f.stranger.ended() {
			return nil
		}
		return errors.New("it still runs")
	})
	if code := f.stranger.cmd.ProcessState.ExitCode(); code != 77 {
		f.t.Errorf("the rejected minion ended with %d, want 77", code)
	}
	if _, err := os.Stat(filepath.Join(f.minionRoot(unwanted), "etc/salt/pki/minion/minion.pem")); err != nil {
		f.t.Error(err)
	}
	if got := f.keyState(unwanted); got != "minions_rejected" {
		f.t.Errorf("the key of the rejected minion is in %q", got)
	}
}
