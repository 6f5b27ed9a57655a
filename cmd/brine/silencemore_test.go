package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/cmd/brine/chaos/link"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/control"
	"brine/wire/payload"
)

// signsAs writes the files of a minion that uses another minion's id.
func (s *silentSite) signsAs(t *testing.T, name, id string) {
	t.Helper()
	s.minion(name, false)
	s.edit(t, name, "id: "+name+"\n", "id: "+id+"\n")
}

// edit changes a part of a minion's configuration.
func (s *silentSite) edit(t *testing.T, name, old, changed string) {
	t.Helper()
	file := "etc/" + name + "/minion"
	text, err := os.ReadFile(s.path(file))
	if err != nil {
		t.Fatal(err)
	}
	s.write(file, strings.Replace(string(text), old, changed, 1), 0o644)
}

// up writes the files of a minion, starts it and waits for its connection.
func (s *silentSite) up(t *testing.T, id string, conf ...string) {
	t.Helper()
	s.minion(id, false, conf...)
	s.start(id, "salt-minion")
	s.connected(t, "yes", id)
}

// newKeys lets a minion make a new key at its next start.
func (s *silentSite) newKeys(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(s.path(name + "/etc/salt/pki")); err != nil {
		t.Fatal(err)
	}
}

// siteSilences are faults that occur when machines are set up, moved and upgraded.
func siteSilences() []silence {
	return []silence{
		{"key made anew", func(t *testing.T, s *silentSite) (string, string) {
			s.up(t, "anew1")
			s.stop("anew1", syscall.SIGTERM)
			s.connected(t, "no", "anew1")
			s.newKeys(t, "anew1")
			s.start("anew1", "salt-minion")
			return s.one(t, "anew1", "test.ping"), "anew1"
		}, ledger.KeyDenied, "the key that came is not the accepted one"},
		{"another machine with its id", func(t *testing.T, s *silentSite) (string, string) {
			s.up(t, "own1")
			jid := s.one(t, "own1", "test.sleep", int64(600))
			s.signsAs(t, "thief1", "own1")
			s.newKeys(t, "thief1")
			s.start("thief1", "salt-minion")
			s.until(t, "denied key", func() bool { return s.keys.Has(keys.Denied, "own1") })
			return jid, "own1"
		}, ledger.JobRunning, "it has been running the job since"}, // the thief is not the reason
		{"two minions of one id", func(t *testing.T, s *silentSite) (string, string) {
			s.up(t, "twin1")
			s.signsAs(t, "twin2", "twin1")
			s.start("twin2", "salt-minion")
			s.until(t, "second connection", func() bool { return strings.Contains(s.text("twin1"), "2 connections") })
			return s.one(t, "twin1", "test.sleep", int64(600)), "twin1"
		}, ledger.JobRunning, ". 2 connections name this id: several minions have it"},
		{"publish port blocked", func(t *testing.T, s *silentSite) (string, string) {
			s.minion("half1", true)
			w := s.wires["half1"].pub
			w.Cut(link.Both)
			if err := w.Refuse(); err != nil {
				t.Fatal(err)
			}
			s.start("half1", "salt-minion")
			return s.unheard(t, "half1"), "half1"
		}, ledger.NotConnected, "has made no connection to the publish port since"},
		{"another master's key on the minion", func(t *testing.T, s *silentSite) (string, string) {
			s.minion("loyal1", false)
			s.write("loyal1/etc/salt/pki/minion/minion_master.pub", s.rsa["minion"].Public, 0o644)
			s.start("loyal1", "salt-minion")
			return s.unheard(t, "loyal1"), "loyal1"
		}, ledger.NotConnected, "does not take this master's key"},
		{"upgraded while it ran", func(t *testing.T, s *silentSite) (string, string) {
			s.up(t, "grown1")
			jid := s.one(t, "grown1", "test.sleep", int64(600))
			s.running(t, jid, "grown1")
			s.stop("grown1", syscall.SIGTERM)
			s.start("grown1", "salt-minion")
			return jid, "grown1"
		}, ledger.JobStopped, "the minion was stopped while the job ran"},
		{"grain changed", func(t *testing.T, s *silentSite) (string, string) {
			s.up(t, "moved1", "grains: {place: here}")
			s.alive(t, "moved1")
			s.stop("moved1", syscall.SIGTERM)
			s.edit(t, "moved1", "place: here", "place: there")
			s.start("moved1", "salt-minion")
			s.connected(t, "yes", "moved1")
			s.alive(t, "moved1")
			s.up(t, "stays1", "grains: {place: here}")
			s.alive(t, "stays1")
			return s.publish(t, "place:here", "grain", "test.ping"), "moved1"
		}, ledger.NotTargeted, "the target place:here (grain) did not mean it"},
		{"batch, not its turn", func(t *testing.T, s *silentSite) (string, string) {
			_, jid, later := s.batch(t, "turn1", "turn2")
			return jid, later
		}, ledger.BatchTurn, "its turn in the batch has not come"},
		{"batch, abandoned", func(t *testing.T, s *silentSite) (string, string) {
			cmd, jid, later := s.batch(t, "left1", "left2")
			s.await(t, jid, later, ledger.BatchTurn, "has not come")
			end(cmd, syscall.SIGKILL)
			return jid, later
		}, ledger.BatchTurn, "ended, which drove the batch: the job was never sent to it"},
	}
}

// text returns the master's reason about a minion without a job.
func (s *silentSite) text(id string) string {
	_, text, _ := s.why("", id)
	return text
}

// batch starts two minions, and a batch that runs a long job on the first of them. later is the minion that
// waits for its turn.
func (s *silentSite) batch(t *testing.T, one, other string) (cmd *exec.Cmd, jid, later string) {
	t.Helper()
	s.up(t, one)
	s.up(t, other)
	s.alive(t, one)
	s.alive(t, other)
	cmd = exec.Command("salt", "-c", s.path("etc/master"), "-b", "1", "-L", one+","+other, "test.sleep", "600")
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.t.Cleanup(func() { end(cmd, syscall.SIGKILL) })
	s.until(t, "job of the batch", func() bool {
		got, err := s.ask(control.Pack(control.GetJobList{Minutes: 60}))
		if err != nil {
			return false
		}
		for _, v := range got.List("jobs") {
			job, _ := v.(*payload.Map)
			switch tgt := job.List("tgt"); {
			case job.Str("fun") != "test.sleep":
			case slices.Contains(tgt, any(one)):
				jid, later = job.Str("jid"), other
			case slices.Contains(tgt, any(other)):
				jid, later = job.Str("jid"), one
			}
		}
		return jid != ""
	})
	return cmd, jid, later
}
