package jobstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// saltDir is a cachedir written by Salt 3008.3 (testdata/make.py).
const saltDir = "testdata/salt3008"

const saltNoCache = "20261120105324000000" // a job of it that is marked nocache

// saltLoad is the load of jid1 in saltDir.
func saltLoad() *payload.Map {
	return payload.M("cmd", "publish", "tgt", "web*", "fun", "test.ping", "arg", []any{}, "tgt_type", "glob", "ret", "",
		"timeout", 5, "jid", jid1, "kwargs", payload.M("show_timeout", true, "show_jid", false, "delimiter", ":"),
		"user", "root")
}

// saltReturns are the returns that make.py stores, the one that came too late included.
func saltReturns() []Return {
	return []Return{
		{JID: jid1, ID: "web1", Load: payload.M("jid", jid1, "id", "web1", "return", true, "retcode", 0, "success",
			true, "fun", "test.ping")},
		{JID: jid1, ID: "web2", Load: payload.M("jid", jid1, "id", "web2", "return",
			payload.M("b", []any{1, 2.5, nil, []byte{0xff, 0}}, "é", "text"), "retcode", 2, "success", false, "out",
			"nested")},
		{JID: jid1, ID: "web1", Load: payload.M("jid", jid1, "id", "web1", "return", "late", "retcode", 0, "success",
			true)},
	}
}

// TestReadsSalt reads a job cache that Salt wrote.
func TestReadsSalt(t *testing.T) {
	c, err := OpenLocalCache(Options{CacheDir: saltDir})
	if err != nil {
		t.Fatal(err)
	}
	want := saltLoad().Set("Minions", []any{"web1", "web2", "web8", "web9"})
	if diff := cmp.Diff(want, getLoad(t, c, jid1)); diff != "" {
		t.Errorf("load (-want +got)\n%s", diff)
	}
	returns := payload.NewMap(0)
	for _, r := range saltReturns()[:2] {
		returns.Set(r.ID, record(r.Load))
	}
	if diff := cmp.Diff(returns, getJID(t, c, jid1)); diff != "" {
		t.Errorf("returns (-want +got)\n%s", diff)
	}
	if got := c.EndTime(jid1); got != "2026, Nov 20 10:53:27.000651" {
		t.Errorf("end time: got %q", got)
	}
	jobs, err := c.GetJIDs(Filter{SkipFindJob: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{jid1}, jobs.Keys()); diff != "" {
		t.Errorf("jobs (-want +got)\n%s", diff)
	}
}

// TestWritesAsSalt stores the jobs of make.py and compares every file byte by byte.
func TestWritesAsSalt(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenLocalCache(Options{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, c, []Load{
		{JID: jid1, Load: saltLoad(), Minions: []string{"web2", "web1"}},
		{JID: jid1, Minions: []string{"web9", "web8"}, Syndic: "syn1"},
		{JID: saltNoCache, Load: payload.M("jid", saltNoCache, "fun", "saltutil.find_job", "tgt", "*"),
			Minions: []string{"web1"}, NoCache: true},
	}, saltReturns()...)
	if err := os.WriteFile(filepath.Join(jobDir(t, dir, jid1), fileEndTime), []byte("2026, Nov 20 10:53:27.000651"),
		0o644); err != nil {
		t.Fatal(err)
	}
	want, got := files(t, filepath.Join(saltDir, "jobs")), files(t, filepath.Join(dir, "jobs"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-Salt +brine)\n%s", diff)
	}
}

// files maps the names of all files below root to their content.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, root)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLocalCacheDamage(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenLocalCache(Options{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, c, []Load{{JID: jid1, Load: ping(jid1)}, {JID: jid2, Load: ping(jid2)}}, answer(jid1, "a", 1),
		answer(jid1, "b", 1))
	job := jobDir(t, dir, jid1)
	for _, name := range []string{".load.p", "a/return.p"} {
		if err := os.WriteFile(filepath.Join(job, name), []byte{0xc1}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.GetLoad(jid1); err == nil || !strings.Contains(err.Error(), ".load.p: the file is damaged") {
		t.Errorf("load: got %v", err)
	}
	got, err := c.GetJID(jid1)
	if err == nil || !strings.Contains(err.Error(), "a/return.p: the file is damaged") || !got.Has("b") {
		t.Errorf("returns: got %v, %v; want b and an error about a", got, err)
	}
	if jobs, err := c.GetJIDs(Filter{}); err != nil || !cmp.Equal(jobs.Keys(), []any{jid2}) {
		t.Errorf("jobs: got %v, %v; want the other one", jobs, err)
	}
	if res := commit(t, c, nil, answer(jid1, "a", 1)); res.Extras != nil {
		t.Errorf("a return over a damaged one: got %+v, want it stored", res)
	}
	if aside, err := filepath.Glob(filepath.Join(job, "a", "return.p.damaged-*")); err != nil || len(aside) != 1 {
		t.Errorf("the damaged one was set aside as %v, %v", aside, err)
	}
	// A directory without return.p is what a killed process leaves: nothing was acknowledged.
	if err := os.Mkdir(filepath.Join(job, "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if res := commit(t, c, nil, answer(jid1, "c", 7)); res.Extras != nil {
		t.Errorf("got %+v, want the return stored", res)
	}
	if err := os.WriteFile(filepath.Join(job, "b", "return.p"), []byte{0x05}, 0o600); err != nil {
		t.Fatal(err)
	}
	got, _ = c.GetJID(jid1)
	if diff := cmp.Diff(payload.M("return", 5), got.Map("b")); diff != "" {
		t.Errorf("a bare value of an old release (-want +got)\n%s", diff)
	}
}
