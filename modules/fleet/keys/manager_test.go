package keys

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// fakeCache is a data cache in memory.
type fakeCache map[string][]string

func (c fakeCache) open() (DataCache, error) { return c, nil }

func (c fakeCache) ForgetAllBut(keep func(id string) bool) error {
	for bank, ids := range c {
		c[bank] = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !keep(id) })
	}
	return nil
}

// newManager has the keys of the recorded salt-key runs, in short.
func newManager(t *testing.T, change func(*ManagerOptions)) (*Manager, string) {
	t.Helper()
	s, dir := newStore(t, map[string]string{
		"minions/web1": pem, "minions/web2": pem, "minions_pre/New1": pem, "minions_pre/new2": pem,
		"minions_pre/old.example": pem, "minions_pre/junk": "no key", "minions_denied/evil1": pem,
		"minions_rejected/bad1": pem,
	})
	o := ManagerOptions{CacheDir: filepath.Join(dir, "cache"), MasterID: "m_master", RotateAESKey: true,
		CheckKey: func(text string) error {
			if !strings.HasPrefix(text, "-----BEGIN") {
				return errors.New("no key")
			}
			return nil
		}}
	for _, id := range []string{"web1", "web2"} {
		writeFile(t, filepath.Join(o.CacheDir, "sessions", id), "session")
	}
	if change != nil {
		change(&o)
	}
	return NewManager(s, o), o.CacheDir
}

func match(t *testing.T, m *Manager, glob string) Groups {
	t.Helper()
	sel, err := m.Match(SplitGlob(glob), false)
	if err != nil {
		t.Fatal(err)
	}
	return sel
}

func TestAccept(t *testing.T) {
	for _, tt := range []struct {
		name, glob string
		inc        Include
		want       []string
		invalid    []string
	}{
		{"one", "new2", Include{}, []string{"new2"}, nil},
		{"several, named once", "new2,New1,new*", Include{}, []string{"New1", "new2"}, nil},
		{"all", "*", Include{}, []string{"New1", "new2", "old.example"}, []string{"junk"}},
		{"rejected ones not by default", "bad1", Include{}, nil, nil},
		{"rejected ones", "*1", ForAccept(true, false, false), []string{"New1", "bad1"}, nil},
		{"denied ones", "evil1", ForAccept(false, false, true), []string{"evil1"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, cacheDir := newManager(t, nil)
			ch, err := m.Accept(match(t, m, tt.glob), tt.inc)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ch.IDs, tt.want) || !slices.Equal(ch.Invalid, tt.invalid) {
				t.Errorf("accepted %q, invalid %q", ch.IDs, ch.Invalid)
			}
			for i, id := range tt.want {
				if st, _, err := m.Get(id); st != Accepted || err != nil {
					t.Errorf("%s is %q, %v", id, st, err)
				}
				if diff := cmp.Diff(Event{Act: "accepted", ID: id, Pub: pem}, ch.Events[i]); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
			}
			if m.Has(Denied, "evil1") == slices.Contains(tt.want, "evil1") {
				t.Error("the denied key is in the wrong place")
			}
			if _, err := os.Stat(filepath.Join(cacheDir, ".dfn")); err == nil {
				t.Error("accepting asked for a new AES key")
			}
		})
	}
}

func TestRejectEndsSessions(t *testing.T) {
	m, cacheDir := newManager(t, nil)
	ch, err := m.Reject(match(t, m, "web1"), Include{})
	if err != nil || len(ch.IDs) > 0 {
		t.Errorf("an accepted key was rejected without the flag: %q %v", ch.IDs, err)
	}
	ch, err = m.Reject(match(t, m, "web1"), ForReject(true, false, false))
	if err != nil || !slices.Equal(ch.IDs, []string{"web1"}) {
		t.Errorf("rejected %q, %v", ch.IDs, err)
	}
	if got := ch.Events[0].Data(); !got.Equal(payload.M("result", true, "act", "rejected", "id", "web1", "pub", pem)) {
		t.Errorf("event %v", got)
	}
	if _, err := os.Stat(filepath.Join(cacheDir, "sessions/web1")); err == nil {
		t.Error("the session of a rejected minion goes on")
	}
	if _, err := os.Stat(filepath.Join(cacheDir, "sessions/web2")); err != nil {
		t.Error("the session of another minion was ended")
	}
	checkDrop(t, cacheDir)
}

func checkDrop(t *testing.T, cacheDir string) {
	t.Helper()
	path := filepath.Join(cacheDir, ".dfn")
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o400 {
		t.Fatalf("drop file: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "m_master" || err != nil {
		t.Errorf("drop file holds %q, %v", text, err)
	}
}

func TestDelete(t *testing.T) {
	cache := fakeCache{"grains": {"web1", "web2", "gone"}, "pillar": {"web1", "web2", "New1"}}
	m, cacheDir := newManager(t, func(o *ManagerOptions) { o.Data = cache.open })
	ch, err := m.Delete(match(t, m, "*1"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"New1", "bad1", "web1", "evil1"}; !slices.Equal(ch.IDs, want) {
		t.Errorf("deleted %q, want %q", ch.IDs, want)
	}
	if got := ch.Events[2].Data(); !got.Equal(payload.M("result", true, "act", "delete", "id", "web1")) {
		t.Errorf("event %v", got)
	}
	if diff := cmp.Diff(fakeCache{"grains": {"web2"}, "pillar": {"web2"}}, cache); diff != "" {
		t.Errorf("data cache (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(cacheDir, "sessions/web1")); err == nil {
		t.Error("the session of a deleted minion goes on")
	}
	checkDrop(t, cacheDir)
	if ch, err = m.Delete(Groups{{Accepted, []string{"web1", "nobody"}}}); len(ch.Events) > 0 || err != nil {
		t.Errorf("deleting nothing: %v, %v", ch, err)
	}
}

// A key that another one hides goes with it: what is deleted does not come back as accepted.
func TestDeleteHidden(t *testing.T) {
	for hides, hidden := range map[Status]Status{Pending: Accepted, Rejected: Pending} {
		m, _ := newManager(t, func(*ManagerOptions) {})
		for _, st := range []Status{hidden, hides} {
			writeFile(t, filepath.Join(m.Store.opt.Dir, string(st), "two"), pem)
		}
		ch, err := m.Delete(match(t, m, "two"))
		if st, _, _ := m.Get("two"); st != "" || len(ch.Events) != 1 || err != nil {
			t.Errorf("%s before %s: %d events, %v; now it is %q", hides, hidden, len(ch.Events), err, st)
		}
	}
}

func TestDeletePreserves(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*ManagerOptions)
		want   []string
	}{
		{"nothing", func(*ManagerOptions) {}, []string{"web2"}},
		{"deleted minions", func(o *ManagerOptions) { o.PreserveMinions = true }, []string{"web1", "web2"}},
		{"everything", func(o *ManagerOptions) { o.PreserveMinionCache = true }, []string{"web1", "web2", "gone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cache := fakeCache{"grains": {"web1", "web2", "gone"}}
			m, cacheDir := newManager(t, func(o *ManagerOptions) {
				o.Data, o.RotateAESKey = cache.open, false
				tt.change(o)
			})
			if _, err := m.Delete(match(t, m, "web1")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, cache["grains"]); diff != "" {
				t.Errorf("cached grains (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(cacheDir, ".dfn")); err == nil {
				t.Error("asked for a new AES key without rotate_aes_key")
			}
		})
	}
}

func TestTexts(t *testing.T) {
	m, _ := newManager(t, nil)
	for _, tt := range []struct {
		inc  Include
		want string
	}{
		{Include{}, "The key glob 'zzz' does not match any unaccepted keys."},
		{Include{Rejected: true}, "The key glob 'zzz' does not match any unaccepted or rejected keys."},
		{Include{Accepted: true, Denied: true}, "The key glob 'zzz' does not match any unaccepted, accepted or " +
			"denied keys."},
	} {
		if got := tt.inc.NoMatchText("zzz"); got != tt.want {
			t.Errorf("got %s", got)
		}
	}
	where, err := m.Where(Groups{{Pending, []string{"new2", "web1", "nobody"}}})
	if diff := cmp.Diff(Groups{{Pending, []string{"new2"}}, {Accepted, []string{"web1"}}}, where); diff != "" ||
		err != nil {
		t.Errorf("Where: %v\n%s", err, diff)
	}
	list, err := m.MatchList([]string{"web2", "evil1", "bad1", "nobody"})
	if diff := cmp.Diff(Groups{{Accepted, []string{"web2"}}, {Denied, []string{"evil1"}}, {Rejected, []string{"bad1"}}},
		list); diff != "" || err != nil {
		t.Errorf("MatchList: %v\n%s", err, diff)
	}
	for word, want := range map[string]Status{"acc": Accepted, "accepted": Accepted, "pre": Pending, "un": Pending,
		"rejected": Rejected, "den": Denied} {
		if got, err := m.ListStatus(word); len(got) != 1 || got[0].Status != want || err != nil {
			t.Errorf("ListStatus(%s): %v %v", word, got, err)
		}
	}
	if got, err := m.ListStatus("foo"); got != nil || err != nil {
		t.Errorf("ListStatus(foo): %v %v", got, err)
	}
	shown, err := m.Print(match(t, m, "web1"))
	if diff := cmp.Diff([]Texts{{Accepted, []Text{{"web1", pem}}}}, shown); diff != "" || err != nil {
		t.Errorf("Print: %v\n%s", err, diff)
	}
}

func TestDropFile(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		asked, bad bool
		stays      bool
	}{
		{"ours", "m_master", 0o400, true, false, false},
		{"of 3006", "", 0o400, true, false, false},
		{"for another master", "other", 0o400, false, false, true},
		{"anybody may have written it", "m_master", 0o644, false, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), ".dfn")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			asked, bad, err := TakeDrop(filepath.Dir(path), "m_master")
			if asked != tt.asked || bad != tt.bad || err != nil {
				t.Errorf("TakeDrop: %v %v %v", asked, bad, err)
			}
			if _, err := os.Stat(path); (err == nil) != tt.stays {
				t.Errorf("the file afterwards: %v", err)
			}
		})
	}
	dir := t.TempDir()
	for range 2 { // the second request finds the first and leaves it
		if err := WriteDrop(dir, "m_master", nil); err != nil {
			t.Fatal(err)
		}
	}
	checkDrop(t, dir)
	if err := WriteDrop(filepath.Join(dir, "nowhere"), "m", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

func generator(o *ManagerOptions) {
	o.Generate = func(bits int) (string, string, error) {
		if bits < minKeySize {
			return "", "", errors.New("too small")
		}
		return "PRIVATE", pem, nil
	}
	o.Sign = func(priv string, msg []byte) ([]byte, error) { return []byte(priv + "|" + string(msg)), nil }
}

func TestGenerate(t *testing.T) {
	m, _ := newManager(t, generator)
	pair, made, err := m.GenerateAccepted("fresh", 1024, false)
	if !made || pair.Private != "PRIVATE" || err != nil {
		t.Errorf("GenerateAccepted: %v %v %v", pair, made, err)
	}
	if _, made, err := m.GenerateAccepted("web1", 0, false); made || err != nil {
		t.Errorf("a key in use was replaced: %v", err)
	}
	if _, made, err := m.GenerateAccepted("bad1", 0, true); !made || err != nil || !m.Has(Accepted, "bad1") {
		t.Errorf("force: %v %v", made, err)
	}
	dir := filepath.Join(t.TempDir(), "gen")
	finger, err := m.GenerateFiles(dir, "foo", 0)
	want, _ := Fingerprint(pem, "")
	if finger != want || err != nil {
		t.Errorf("GenerateFiles: %s %v", finger, err)
	}
	for name, mode := range map[string]os.FileMode{"foo.pem": 0o400, "foo.pub": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if again, err := m.GenerateFiles(dir, "foo", 0); again != want || err != nil {
		t.Errorf("a pair that is there: %s %v", again, err)
	}
	if _, err := m.GenerateFiles(dir, "../foo", 0); !errors.Is(err, ErrInvalidID) {
		t.Errorf("outside the folder: %v", err)
	}
}

func TestSignature(t *testing.T) {
	m, cacheDir := newManager(t, generator)
	dir := filepath.Dir(cacheDir)
	check := func(want any, s Signature) {
		t.Helper()
		if got, err := m.Sign(s); got != want || err != nil {
			t.Errorf("Sign(%+v): got %v, %v, want %v", s, got, err, want)
		}
	}
	check("No usable private-key found", Signature{})
	check("Private-key /nowhere/x.pem does not exist", Signature{PrivatePath: "/nowhere/x.pem"})
	check("Public-key /nowhere/x.pub does not exist", Signature{PublicPath: "/nowhere/x.pub"})
	check("No usable public-key found", Signature{AutoCreate: true})
	writeFile(t, filepath.Join(dir, "master.pub"), pem+"\r\n")
	check(true, Signature{})
	check(false, Signature{})
	text, err := os.ReadFile(filepath.Join(dir, "master_pubkey_signature"))
	if want := base64.StdEncoding.EncodeToString([]byte("PRIVATE|"+pem)) + "\n"; string(text) != want || err != nil {
		t.Errorf("signature file: %q %v", text, err)
	}
	if name, text, err := m.MasterPub(); name != "master.pub" || text != pem || err != nil {
		t.Errorf("MasterPub: %s %q %v", name, text, err)
	}
	writeFile(t, filepath.Join(dir, "m.pub"), "newer")
	if name, text, err := m.MasterPub(); name != "m.pub" || text != "newer" || err != nil {
		t.Errorf("MasterPub of 3008: %s %q %v", name, text, err)
	}
}

// No status and no id leaves the folders of keys, whatever calls the store.
func TestPlaces(t *testing.T) {
	m, _ := newManager(t, func(*ManagerOptions) {})
	writeFile(t, filepath.Join(m.Store.opt.Dir, "master.pem"), "SECRET")
	for _, st := range []Status{"", ".", "..", "/", "minions/..", "../minions", "minions_pre/../minions", "minions\x00",
		"autosign", "minions_autosign", Local} {
		if _, err := m.Remove(st, "master.pem"); !errors.Is(err, ErrInvalidStatus) {
			t.Errorf("Remove with the status %q: %v", st, err)
		}
		if err := m.Put(st, "master.pem", pem); !errors.Is(err, ErrInvalidStatus) {
			t.Errorf("Put with the status %q: %v", st, err)
		}
		if _, ok, err := m.Read(st, "master.pem"); st != Local && (ok || !errors.Is(err, ErrInvalidStatus)) {
			t.Errorf("Read with the status %q: %v, %v", st, ok, err)
		}
		if err := (Groups{{Status: st, IDs: []string{"x"}}}).Check(); !errors.Is(err, ErrInvalidStatus) {
			t.Errorf("Check of the status %q: %v", st, err)
		}
		if ch, err := m.Delete(Groups{{Status: st, IDs: []string{"master.pem"}}}); err == nil || len(ch.IDs) > 0 {
			t.Errorf("Delete with the status %q: %v, %v", st, ch, err)
		}
	}
	for _, id := range []string{"", ".", "..", "../master.pem", "a/b", "a\\b", "a\x00", "a\nb", "a\r", "\x1b[2J",
		"a\u0085", strings.Repeat("a", 256)} {
		for _, st := range append(order[:], Local) {
			_, _, readErr := m.Read(st, id)
			_, removeErr := m.Remove(st, id)
			for _, err := range []error{readErr, removeErr, m.Put(st, id, pem), m.endSession(id)} {
				if !errors.Is(err, ErrInvalidID) && !errors.Is(err, ErrInvalidStatus) {
					t.Errorf("the id %q with the status %s: %v", id, st, err)
				}
			}
		}
		if _, _, err := m.GenerateAccepted(id, 0, true); !errors.Is(err, ErrInvalidID) {
			t.Errorf("GenerateAccepted of %q: %v", id, err)
		}
		if id != "" {
			if _, err := m.GenerateFiles(t.TempDir(), id, 0); !errors.Is(err, ErrInvalidID) {
				t.Errorf("GenerateFiles of %q: %v", id, err)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(m.Store.opt.Dir, "master.pem")); string(text) != "SECRET" {
		t.Errorf("master.pem: %q, %v", text, err)
	}
	pki := m.Store.opt.MasterDir
	for path, ok := range map[string]bool{"": true, pki: true, pki + "/": true, pki + "/made": true, pki + "/..": false,
		"/etc": false, "made": false, pki + "/minions": false, pki + "/minions/": false,
		pki + "/x/../minions_pre": false, pki + "/minions_autosign/x": false, pki + "/a\x00": false} {
		if err := m.Inside(path); (err == nil) != ok {
			t.Errorf("Inside(%q): %v", path, err)
		}
	}
	if _, err := m.Generate(maxKeySize + 1); err == nil {
		t.Error("a key without end is made")
	}
}
