package jobstore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// cache is what Store and LocalCache have in common.
type cache interface {
	Announce(Load) error
	Commit([]Load, []Return) (Result, error)
	SaveLoad(Load) error
	SaveMinions(jid string, minions []string, syndic string) error
	StoreReturns([]Return) ([]Extra, error)
	GetLoad(jid string) (*payload.Map, error)
	GetJID(jid string) (*payload.Map, error)
	GetJIDs(Filter) (*payload.Map, error)
	Returned(jid, id string) (bool, error)
	EndTime(jid string) string
	Clean(now time.Time) (int, error)
	Close() error
}

// each runs a test against both job caches. open opens the cache again in the same directory.
func each(t *testing.T, f func(t *testing.T, dir string, open func(Options) cache)) {
	for name, start := range map[string]func(Options) (cache, error){
		"store":      func(o Options) (cache, error) { return Open(o) },
		"localcache": func(o Options) (cache, error) { return OpenLocalCache(o) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f(t, dir, func(o Options) cache {
				o.CacheDir = dir
				c, err := start(o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				return c
			})
		})
	}
}

const (
	jid1 = "20261120105323573103"
	jid2 = "20261120105324000000"
	jid3 = "20261120105325000000"
)

func ping(jid string) *payload.Map {
	return payload.M("cmd", "publish", "tgt", "*", "fun", "test.ping", "arg", []any{}, "jid", jid, "user", "root")
}

func answer(jid, id string, v any) Return {
	return Return{JID: jid, ID: id, Load: payload.M("jid", jid, "id", id, "return", v, "retcode", 0, "success", true,
		"fun", "test.ping")}
}

func getLoad(t *testing.T, c cache, jid string) *payload.Map {
	t.Helper()
	load, err := c.GetLoad(jid)
	if err != nil {
		t.Fatal(err)
	}
	return load
}

func getJID(t *testing.T, c cache, jid string) *payload.Map {
	t.Helper()
	ret, err := c.GetJID(jid)
	if err != nil {
		t.Fatal(err)
	}
	return ret
}

func commit(t *testing.T, c cache, loads []Load, returns ...Return) Result {
	t.Helper()
	res, err := c.Commit(loads, returns)
	if err != nil || res.Files != nil {
		t.Fatal(err, res.Files)
	}
	return res
}

// jobDir is the directory of a job in Salt's layout.
func jobDir(t *testing.T, dir, jid string) string {
	t.Helper()
	l, err := newLayout(dir, "sha256", false)
	if err != nil {
		t.Fatal(err)
	}
	return l.dir(jid)
}

// exists says whether there is a file.
func exists(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

func TestJob(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{})
		if load := getLoad(t, c, jid1); load != nil {
			t.Errorf("unknown job: got load %v, want nil", load)
		}
		if ret := getJID(t, c, jid1); ret.Len() != 0 {
			t.Errorf("unknown job: got returns %v, want none", ret)
		}
		commit(t, c, []Load{{JID: jid1, Load: ping(jid1), Minions: []string{"web2", "web1"}}},
			Return{JID: jid1, ID: "web1", Load: payload.M("return", payload.M("b", []byte{0xff}, "é", 1.5), "retcode",
				2, "success", false, "out", "nested", "jid", jid1)},
			answer(jid1, "web2", true))
		c.Close()
		c = open(Options{})
		if diff := cmp.Diff(ping(jid1).Set("Minions", []any{"web1", "web2"}), getLoad(t, c, jid1)); diff != "" {
			t.Errorf("load (-want +got)\n%s", diff)
		}
		returns := payload.M(
			"web1", payload.M("return", payload.M("b", []byte{0xff}, "é", 1.5), "retcode", 2, "success", false, "out",
				"nested"), "web2", payload.M("return", true, "retcode", 0, "success", true))
		if diff := cmp.Diff(returns, getJID(t, c, jid1)); diff != "" {
			t.Errorf("returns (-want +got)\n%s", diff)
		}
		for id, want := range map[string]bool{"web1": true, "web3": false, "../x": false} {
			if got, err := c.Returned(jid1, id); got != want || err != nil {
				t.Errorf("Returned(%q): got %v, %v; want %v", id, got, err, want)
			}
		}
		if s := c.EndTime(jid1); s != "" {
			t.Errorf("end time %q without the option", s)
		}
		checkJobFiles(t, jobDir(t, dir, jid1))
	})
}

// checkJobFiles checks what lies on disk for Salt's tools whichever cache it is.
func checkJobFiles(t *testing.T, job string) {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(job, "jid")); err != nil || string(b) != jid1 {
		t.Errorf("jid: got %q, %v", b, err)
	}
	for name, want := range map[string]any{".load.p": ping(jid1), ".minions.p": []any{"web1", "web2"}} {
		if v, err := packedfile.Read(filepath.Join(job, name)); err != nil || !payload.Equal(v, want) {
			t.Errorf("%s: got %v, %v; want %v", name, v, err, want)
		}
	}
	_ = filepath.WalkDir(job, func(path string, d fs.DirEntry, _ error) error {
		if strings.Contains(d.Name(), wholefile.TempPrefix) {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

func TestFirstReturnStays(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{})
		res := commit(t, c, []Load{{JID: jid1, Load: ping(jid1)}},
			answer(jid1, "a", 1), answer(jid1, "b", 1), answer(jid1, "a", 1), answer(jid1, "a", 2))
		if diff := cmp.Diff([]Extra{{2, Repeated}, {3, Differing}}, res.Extras); diff != "" {
			t.Errorf("in one batch (-want +got)\n%s", diff)
		}
		extras, err := c.StoreReturns([]Return{answer(jid1, "c", 1), answer(jid1, "b", 2), answer(jid1, "b", 1)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Extra{{1, Differing}, {2, Repeated}}, extras); diff != "" {
			t.Errorf("in a later batch (-want +got)\n%s", diff)
		}
		got := getJID(t, c, jid1)
		for _, id := range []string{"a", "b", "c"} {
			if v, _ := got.Map(id).Int("return"); v != 1 {
				t.Errorf("%s: got %v, want the first return", id, got.Map(id))
			}
		}
	})
}

func TestUnannouncedJob(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{})
		late := Return{JID: jid1, ID: "web1", Load: payload.M("jid", jid1, "id", "web1", "return",
			payload.M("fun", "x.y", "user", "ada"))}
		commit(t, c, nil, late)
		want := payload.M("jid", jid1, "id", "web1", "fun", "x.y", "user", "ada", "Minions", []any{})
		if diff := cmp.Diff(want, getLoad(t, c, jid1)); diff != "" {
			t.Errorf("load (-want +got)\n%s", diff)
		}
		if got := getJID(t, c, jid1); got.Len() != 1 {
			t.Errorf("got %v, want one return", got)
		}
		if !exists(jobDir(t, dir, jid1), ".load.p") || !exists(jobDir(t, dir, jid1), "jid") {
			t.Error("no files for Salt's tools")
		}
		commit(t, c, []Load{{JID: jid1, Load: ping(jid1), Minions: []string{"web1"}}})
		if got := getLoad(t, c, jid1); got.Str("fun") != "test.ping" {
			t.Errorf("the load that came later: got %v", got)
		}
	})
}

func TestNotStored(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{})
		res := commit(t, c, []Load{{JID: jid1, Load: ping(jid1), NoCache: true}, {JID: "", Load: ping("")}},
			answer(jid1, "a", 1), answer("", "a", 1), answer(jid2, "../x", 1), answer(jid2, "", 1),
			answer(strings.Repeat("9", 500), "a", 1), answer("x\x00y", "a", 1))
		want := []Extra{{0, Uncached}, {1, Malformed}, {2, Malformed}, {3, Malformed}, {4, Malformed}, {5, Malformed}}
		if diff := cmp.Diff(want, res.Extras); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got := getJID(t, c, jid1); got.Len() != 0 {
			t.Errorf("nocache: got %v, want nothing", got)
		}
		if getLoad(t, c, jid1) == nil || !exists(jobDir(t, dir, jid1), "nocache") {
			t.Error("nocache: no load, or no mark for Salt's tools")
		}
		c.Close()
		c = open(Options{})
		if extras, err := c.StoreReturns([]Return{answer(jid1, "a", 1)}); err != nil || len(extras) != 1 {
			t.Errorf("after a restart: got %v, %v; want one Uncached", extras, err)
		}
	})
}

func TestMinionsAreAdded(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{})
		if err := c.SaveLoad(Load{JID: jid1, Load: ping(jid1), Minions: []string{"b"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.SaveMinions(jid1, []string{"d", "b"}, ""); err != nil {
			t.Fatal(err)
		}
		if err := c.SaveMinions(jid1, []string{"c"}, "syn1"); err != nil {
			t.Fatal(err)
		}
		if err := c.SaveMinions(jid2, []string{"x"}, ""); err != nil {
			t.Fatal(err)
		}
		if got := getLoad(t, c, jid1).List("Minions"); !cmp.Equal(got, []any{"b", "c", "d"}) {
			t.Errorf("got %v, want b, c, d", got)
		}
		if got := getLoad(t, c, jid2); got != nil {
			t.Errorf("a job of which only minions are known: got load %v, want nil", got)
		}
		if v, err := packedfile.Read(filepath.Join(jobDir(t, dir, jid1), ".minions.syn1.p")); err != nil ||
			!payload.Equal(v, []any{"c"}) {
			t.Errorf("minions of the syndic: got %v, %v", v, err)
		}
		if err := c.SaveMinions(jid1, []string{"c"}, "../../evil"); err == nil {
			t.Error("a syndic id that leaves the directory was taken")
		}
	})
}

func TestAnnounce(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{})
		l := Load{JID: jid1, Load: ping(jid1), Minions: []string{"web2", "web1"}}
		if err := c.Announce(l); err != nil {
			t.Fatal(err)
		}
		checkJobFiles(t, jobDir(t, dir, jid1))
		l.Announced = true
		commit(t, c, []Load{l}, answer(jid1, "web1", true))
		if got := getLoad(t, c, jid1); got.Str("fun") != "test.ping" {
			t.Errorf("got %v", got)
		}
		if c.Announce(Load{JID: ""}) == nil {
			t.Error("an empty job id was taken")
		}
	})
}

func TestGetJIDs(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		now := time.Unix(1000, 0)
		c := open(Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
		find := ping(jid2).Set("fun", "saltutil.find_job")
		commit(t, c, []Load{{JID: jid1, Load: ping(jid1)}, {JID: jid2, Load: find}, {JID: jid3, Load: ping(jid3)},
			{JID: "9", Minions: []string{"a"}}})
		for _, tt := range []struct {
			filter Filter
			want   []any
		}{
			{Filter{}, []any{jid1, jid2, jid3}},
			{Filter{Count: 2}, []any{jid2, jid3}},
			{Filter{Count: 2, SkipFindJob: true}, []any{jid1, jid3}},
			{Filter{Count: 9}, []any{jid1, jid2, jid3}},
		} {
			got, err := c.GetJIDs(tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Keys()); diff != "" {
				t.Errorf("%+v (-want +got)\n%s", tt.filter, diff)
			}
		}
	})
}

func TestEndTime(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		c := open(Options{EndTimes: true, Now: func() time.Time {
			return time.Date(2026, 11, 20, 10, 53, 27, 651000, time.UTC)
		}})
		commit(t, c, nil, answer(jid1, "a", 1))
		if got := c.EndTime(jid1); got != "2026, Nov 20 10:53:27.000651" {
			t.Errorf("got %q", got)
		}
	})
}

func TestCleanByAge(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		start := time.Now()
		c := open(Options{Keep: time.Hour})
		var loads []Load
		var returns []Return
		for i := range 3 * cleanBatch {
			jid := fmt.Sprintf("%020d", i)
			loads = append(loads, Load{JID: jid, Load: ping(jid), Minions: []string{"a"}})
			returns = append(returns, answer(jid, "a", true))
		}
		if _, ok := c.(*LocalCache); ok { // each return is synced
			loads, returns = loads[:7], returns[:7]
		}
		commit(t, c, loads, returns...)
		if n, err := c.Clean(start.Add(59 * time.Minute)); n != 0 || err != nil {
			t.Errorf("too early: got %d, %v", n, err)
		}
		if n, err := c.Clean(start.Add(2 * time.Hour)); n != len(loads) || err != nil {
			t.Errorf("got %d, %v; want %d", n, err, len(loads))
		}
		if got, err := c.GetJIDs(Filter{}); err != nil || got.Len() != 0 {
			t.Errorf("got %v, %v; want no jobs", got, err)
		}
		if got := getJID(t, c, loads[0].JID); got.Len() != 0 {
			t.Errorf("got returns %v, want none", got)
		}
		if left, _ := filepath.Glob(dir + "/jobs/*"); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		if s, ok := c.(*Store); ok {
			if n, err := s.Bytes(); n != 0 || err != nil {
				t.Errorf("an empty store counts %d bytes, %v", n, err)
			}
		}
		c.Close()
		c = open(Options{})
		commit(t, c, loads[:1])
		if n, err := c.Clean(start.Add(1000 * time.Hour)); n != 0 || err != nil {
			t.Errorf("without an age: got %d, %v; want 0", n, err)
		}
	})
}

func TestCap(t *testing.T) {
	each(t, func(t *testing.T, dir string, open func(Options) cache) {
		const limit = 50_000
		c := open(Options{MaxBytes: limit})
		for i := range 100 {
			jid := fmt.Sprintf("%020d", i)
			commit(t, c, []Load{{JID: jid, Load: ping(jid)}}, answer(jid, "a", strings.Repeat("x", 1000)))
			at := time.Unix(int64(1000+i), 0)
			if err := os.Chtimes(filepath.Join(jobDir(t, dir, jid), "jid"), at, at); err != nil && i > 98 {
				t.Fatal(err)
			}
		}
		if _, err := c.Clean(time.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := c.GetJIDs(Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if n := got.Len(); n < 25 || n > 45 {
			t.Errorf("got %d jobs of about 1200 bytes, want some 40", n)
		}
		if last := got.Keys()[got.Len()-1]; last != fmt.Sprintf("%020d", 99) {
			t.Errorf("the newest job went: last is %v", last)
		}
		dirs, _ := filepath.Glob(dir + "/jobs/*/*")
		if len(dirs) != got.Len() {
			t.Errorf("got %d directories for %d jobs", len(dirs), got.Len())
		}
		big := fmt.Sprintf("%020d", 1000)
		commit(t, c, []Load{{JID: big, Load: ping(big)}}, answer(big, "a", strings.Repeat("x", 2*limit)))
		if _, err := c.Clean(time.Now().Add(2 * sweepEvery)); err != nil {
			t.Fatal(err)
		}
		if got := getJID(t, c, big); got.Len() != 1 {
			t.Error("the newest job went because it is larger than the cap")
		}
	})
}
