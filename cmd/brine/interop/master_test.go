//go:build interop

package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fleetConfig lets the minions of every release join and publish, and answers their peers.
const fleetConfig = "minimum_auth_version: 0\npeer:\n  .*:\n    - test.*\nnodegroups:\n  webs: 'G@role:web'\n"

// fleet starts one brine master with a minion of every release and a brine minion, all accepted.
func fleet(t *testing.T, extra string) (*site, []string) {
	s := newSite(t)
	s.configMaster(fleetConfig + extra)
	s.startMaster(brine)
	var ids []string
	for _, kind := range append([]string{brine}, releases...) {
		id := "m" + kind
		ids = append(ids, id)
		s.configMinion(id, "grains:\n  role: web\n"+minionExtra(extra))
		s.copySigningKey(id)
		s.startMinion(kind, id)
	}
	for _, id := range ids {
		s.awaitKey(id, "minions_pre")
	}
	s.mustRun("3008", "salt-key", "-y", "-A")
	s.awaitPing("3008", 60*time.Second, ids...)
	return s, ids
}

// copySigningKey gives a minion the key that vouches for the master's, when the master has one.
func (s *site) copySigningKey(id string) {
	s.t.Helper()
	b, err := os.ReadFile(s.masterPath("etc/salt/pki/master/master_sign.pub"))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(filepath.Join(s.minionRoot(id), "etc/salt/pki/minion/master_sign.pub"), string(b))
}

// minionExtra is what a minion must know of a master's variant.
func minionExtra(master string) string {
	out := ""
	if strings.Contains(master, "zmq_filtering: True") {
		out += "zmq_filtering: True\n"
	}
	if strings.Contains(master, "master_sign_pubkey: True") {
		out += "verify_master_pubkey_sign: True\n"
	}
	return out
}

// TestBrineMaster takes minions of four releases, and one of ours, through the life of a fleet on one brine
// master, driven by Salt's own command line.
func TestBrineMaster(t *testing.T) {
	s, ids := fleet(t, "")
	list := strings.Join(ids, ",")
	s.expect("3008", "hello", ids, "*", "cmd.run", "echo hello")
	for _, target := range [][]string{
		{"m*"}, {"-E", "m.*"}, {"-L", list}, {"-G", "role:web"}, {"-P", "role:w.b"}, {"-C", "G@role:web and m*"},
		{"-S", "127.0.0.1"}, {"-N", "webs"},
	} {
		s.expect("3008", true, ids, append(target, "test.ping")...)
	}
	for id, v := range s.returns("3008", "*", "test.ping,cmd.run", ",", "echo two") {
		if m := asMap(v); m["test.ping"] != true || m["cmd.run"] != "two" {
			t.Errorf("two functions on %s: %v", id, v)
		}
	}
	s.expect("3008", true, ids, "*", "mine.send", "test.ping")
	for id, v := range s.returns("3008", "*", "mine.get", "*", "test.ping") {
		if err := all(asMap(v), true, ids...); err != nil {
			t.Errorf("mine.get on %s: %v", id, err)
		}
	}
	for id, v := range s.returns("3008", "*", "publish.publish", list, "test.echo", "pub", "tgt_type=list") {
		if err := all(asMap(v), "pub", ids...); err != nil {
			t.Errorf("publish.publish on %s: %v", id, err)
		}
	}
	lookUp(t, s, ids)
	watchEvents(t, s, ids)
	restarts(t, s, ids)
	keyLife(t, s, ids)
}

// lookUp starts a job without waiting and reads it from the job cache, with Salt's files there.
func lookUp(t *testing.T, s *site, ids []string) {
	r := s.mustRun("3008", "salt", "--async", "*", "test.arg_clean", "x")
	jid := lastWord(r.stdout)
	s.eventually(20*time.Second, "returns of the async job", func() error {
		out := s.run(brine, "salt-run", "--out=json", "jobs.lookup_jid", jid).stdout
		for _, id := range ids {
			if err := contains(out, `"`+id+`"`); err != nil {
				return err
			}
		}
		return nil
	})
}

// watchEvents lets a real salt-run watch the bus while a job runs.
func watchEvents(t *testing.T, s *site, ids []string) {
	d := s.start("state-event", toolPath(t, "3008", "salt-run"), "-c", s.masterDir(), "state.event", "salt/job/*", "count=12")
	s.eventually(40*time.Second, "events seen by salt-run", func() error {
		s.returns("3008", "*", "test.ping")
		b, err := os.ReadFile(d.log)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := contains(string(b), "/ret/"+id); err != nil {
				return err
			}
		}
		return nil
	})
	d.stop(syscall.SIGTERM)
}

// restarts restarts every minion and the master.
func restarts(t *testing.T, s *site, ids []string) {
	s.master.stop(syscall.SIGTERM)
	s.startMaster(brine)
	s.awaitPing("3008", 60*time.Second, ids...)
	for _, id := range ids {
		s.minions[id].stop(syscall.SIGTERM)
	}
	for _, id := range ids {
		s.startMinion(strings.TrimPrefix(id, "m"), id)
	}
	s.awaitPing("3008", 60*time.Second, ids...)
}

// keyLife deletes, rejects and denies keys.
func keyLife(t *testing.T, s *site, ids []string) {
	gone, rest := ids[1], append([]string{ids[0]}, ids[2:]...)
	s.mustRun("3008", "salt-key", "-y", "-d", gone)
	s.expect("3008", true, rest, "*", "test.ping") // the key was rotated: the rest signs in again by itself
	s.awaitPing("3008", 60*time.Second, rest...)
	s.minions[gone].stop(syscall.SIGTERM)
	s.startMinion(strings.TrimPrefix(gone, "m"), gone)
	s.awaitKey(gone, "minions_pre")
	s.mustRun("3008", "salt-key", "-y", "-r", gone)
	if got := s.keyState(gone); got != "minions_rejected" {
		t.Errorf("%s after salt-key -r: in %q", gone, got)
	}
	s.minions[gone].stop(syscall.SIGTERM)
	delete(s.minions, gone)

	thief := s.minionRoot("thief") // another key under an accepted id is denied
	s.write(filepath.Join(thief, "etc", "minion"), fmt.Sprintf("root_dir: %s\nmaster: 127.0.0.1\nmaster_port: %d\nid: %s\nuser: root\nrejected_retry: True\n",
		thief, s.ret, rest[0]))
	d := s.start("thief", toolPath(t, "3008", "salt-minion"), "-c", filepath.Join(thief, "etc"), "--disable-keepalive")
	s.eventually(40*time.Second, "the denied key", func() error {
		_, err := os.Stat(filepath.Join(s.masterPath("etc/salt/pki/master/minions_denied"), rest[0]))
		return err
	})
	d.stop(syscall.SIGTERM)
	s.expect("3008", true, rest, "*", "test.ping")
}

// TestBrineMasterVariants runs the fleet under the options that change what goes over the wire.
func TestBrineMasterVariants(t *testing.T) {
	for name, extra := range map[string]string{
		"filtering":  "zmq_filtering: True\n",
		"unsigned":   "sign_pub_messages: False\n",
		"signed key": "master_sign_pubkey: True\n",
	} {
		t.Run(name, func(t *testing.T) {
			s, ids := fleet(t, extra)
			s.expect("3008", true, ids, "*", "test.ping")
			s.expect("3008", true, ids[:2], "-L", strings.Join(ids[:2], ","), "test.ping")
			s.expect("3008", "x", ids, "-G", "role:web", "test.echo", "x")
		})
	}
}
