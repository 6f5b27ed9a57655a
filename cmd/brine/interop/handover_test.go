//go:build interop

package interop

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHandover gives the directories and the configuration of a real master to a brine master and back, while
// two minions run. 3008 has moved master.pem and linked it, 3006 has the older layout.
func TestHandover(t *testing.T) {
	t.Parallel()
	for _, release := range chosen("3008", "3006") {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, release, release, map[string]string{"m1": release, "m2": brine}, variant{
				"handover", "master_job_cache: local_cache\n" + framing(release), plain.minion})
			f.startAll()
			f.acceptAll()
			f.everyKindOfKey()
			f.expect(release, true, f.ids, "*", "mine.send", "test.echo", "of old")
			before := f.inherit(nil)
			f.step("to brine", func(f *fleet) { f.handTo(brine, before) })
			f.step("and back", func(f *fleet) { f.handTo(release, before) })
			f.step("to brine again", func(f *fleet) {
				f.handTo(brine, before)
				f.joinLate("pending1")
			})
		})
	}
}

// everyKindOfKey adds a pending, a rejected and a denied key to those of the fleet.
func (f *fleet) everyKindOfKey() {
	f.t.Helper()
	for _, id := range []string{"pending1", "rejected1"} {
		f.visit(id, id, "minions_pre")
	}
	f.mustRun(f.tools, "salt-key", "-y", "-r", "rejected1")
	f.awaitKey("minions_rejected", "rejected1")
	f.visit("thief", f.ids[0], "minions_denied")
}

// visit starts a brine minion that offers its key under an id, and stops it.
func (f *fleet) visit(dir, id, folder string) {
	f.t.Helper()
	f.write(filepath.Join(f.minionDir(dir), "minion"), fmt.Sprintf(
		"root_dir: %s\nmaster: 127.0.0.1\nmaster_port: %d\npublish_port: %d\nid: %s\nuser: "+
			"root\nacceptance_wait_time: 1\nrejected_retry: True\n",
		f.minionRoot(dir), f.ret, f.pub, id))
	d := f.start("visitor-"+dir, toolPath(f.t, brine, "salt-minion"), "-c", f.minionDir(dir), "--disable-keepalive")
	f.awaitKey(folder, id)
	d.stop()
}

// heirloom is the data that a new master must find unchanged.
type heirloom struct {
	keys map[string]any      // output of salt-key -L
	pki  map[string]string   // mode and content, or link target, of each file below pki_dir
	jobs map[string][]string // minions that answered, by jid
}

// inherit notes the current data, after one more job. Jobs in before stay in it.
func (f *fleet) inherit(before *heirloom) *heirloom {
	f.t.Helper()
	now := &heirloom{keys: f.keyList(f.master), pki: f.pkiFiles(), jobs: map[string][]string{}}
	if before != nil {
		now.jobs = before.jobs
	}
	jid := f.async("*", "test.arg_clean", "x", "k=1")
	f.lookUp(f.master, jid)
	now.jobs[jid] = f.ids
	return now
}

// handTo stops the master and starts one of another kind with its data.
func (f *fleet) handTo(kind string, before *heirloom) {
	waited := f.waits()
	f.site.master.stop()
	f.master, f.tools = kind, kind
	f.startMaster(kind)
	f.awaitPing(f.ids...)
	after := f.inherit(before)
	if d := cmp.Diff(before.keys, after.keys); d != "" {
		f.t.Errorf("keys, before -, after +:\n%s", d)
	}
	if d := cmp.Diff(before.pki, after.pki); d != "" {
		f.t.Errorf("files of pki_dir, before -, after +:\n%s", d)
	}
	if d := cmp.Diff(waited, f.waits()); d != "" {
		f.t.Errorf("how often the minions waited for their acceptance, before -, after +:\n%s", d)
	}
	for jid := range before.jobs {
		f.lookUp(kind, jid)
	}
	f.expect(kind, true, f.ids, "-G", "role:web", "test.ping")
	f.expect(kind, true, f.ids[:1], f.ids[0], "test.ping")
	for id, v := range f.returns(kind, "*", "mine.get", "*", "test.echo") {
		if err := all(asMap(v), "of old", f.ids...); err != nil {
			f.t.Errorf("mine.get on %s: %v", id, err)
		}
	}
}

// waits counts how often the log of each minion says that it waits for its acceptance, in the words of Salt and
// of brine.
func (f *fleet) waits() map[string]int {
	out := map[string]int{}
	for _, id := range f.ids {
		for _, text := range []string{"has cached the public key", "for an operator to accept"} {
			out[id] += strings.Count(f.minions[id].output(), text)
		}
	}
	return out
}

// keyList is the output of salt-key -L of a kind.
func (f *fleet) keyList(kind string) map[string]any {
	f.t.Helper()
	r := f.mustRun(kind, "salt-key", "--out=json", "-L")
	var out map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		f.t.Fatalf("%s salt-key -L: %v\n%s", kind, err, r.stdout)
	}
	return out
}

// pkiFiles notes every entry of the master's pki_dir.
func (f *fleet) pkiFiles() map[string]string {
	f.t.Helper()
	root, out := f.masterPath("etc/salt/pki/master"), map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		out[name], err = describe(path, d)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	switch {
	case d.IsDir():
		return info.Mode().String(), nil
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return "link to " + to, err
	}
	b, err := os.ReadFile(path)
	return fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(b)), err
}

// joinLate starts a minion whose key has been pending since the time of the old master.
func (f *fleet) joinLate(id string) {
	f.configMinion(id, fleetMinion)
	f.startMinion(brine, id)
	f.mustRun(f.tools, "salt-key", "-y", "-a", id)
	f.awaitKey("minions", id)
	f.awaitPing(append([]string{id}, f.ids...)...)
}
