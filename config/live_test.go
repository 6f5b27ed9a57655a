package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
)

func TestChanges(t *testing.T) {
	load := func(over *payload.Map, files ...string) *Common {
		t.Helper()
		m, err := Loader{Path: filepath.Join(write(t, files...), "master"), Getenv: noEnv, Environ: environOf(),
			Overrides: over}.Master()
		if err != nil {
			t.Fatal(err)
		}
		return &m.Common
	}
	was := load(nil, "master", "log_level: info\nnodegroups: {a: b}\nworker_threads: 4\ntimeout: 7\nmy_own: "+
		"1\nkeep_jobs_seconds: 86400\nuser: root\n")
	for _, tt := range []struct {
		text string
		over *payload.Map
		want string
	}{
		// the default
		{"log_level: info\nnodegroups: {a: b}\nworker_threads: 4\ntimeout: 7\nmy_own: 1\nuser: root\n", nil, ""},
		{"log_level: debug\nnodegroups: {a: b}\nworker_threads: 4\ntimeout: 7\nmy_own: 1\nuser: root\n", nil,
			"log_level live"},
		{"log_level: debug\nnodegroups: {a: b}\nworker_threads: 4\ntimeout: 7\nmy_own: 1\nuser: root\n",
			payload.M("log_level", "error"), ""},
		{"nodegroups: {a: c}\nworker_threads: 9\nmy_own: 2\npublisher_acl: {ann: [test.ping]}\nuser: root\n", nil,
			"log_level live, my_own, nodegroups live, publisher_acl live, timeout live, worker_threads"},
		{"log_level: info\nnodegroups: {a: b}\nworker_threads: 4\ntimeout: 7\nmy_own: 1\nuser: root\nrest_cherrypy: " +
			"{port: 1}\nauth_tries: 3\n", nil,
			"auth_tries foreign, rest_cherrypy foreign"},
	} {
		changes, err := Changes(was, load(tt.over, "master", tt.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			text := c.Key
			if c.Live {
				text += " live"
			}
			if c.Foreign {
				text += " foreign"
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, text, tt.want)
		}
	}
}

// TestLiveIsHonoured: an option that may change while the daemon runs is a supported one.
func TestLiveIsHonoured(t *testing.T) {
	all := standings(t)
	for role, rules := range map[string]func(standing) []rule{
		roleMaster: func(s standing) []rule {
			return s.master
		}, roleMinion: func(s standing) []rule { return s.minion }} {
		for _, key := range live(role) {
			if !slices.ContainsFunc(rules(all[key]), func(r rule) bool { return r.act == actHonour }) {
				t.Errorf("%s of the %s may change while it runs, and is not honoured", key, role)
			}
		}
	}
}

func TestFolders(t *testing.T) {
	other := t.TempDir()
	dir := write(t, "master", "include: [more/*.conf, late/*/x.conf]\n", "more/a.conf", "")
	if err := os.WriteFile(filepath.Join(other, "real"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "real"), filepath.Join(dir, "more/b.conf")); err != nil {
		t.Fatal(err)
	}
	m, err := Loader{Path: filepath.Join(dir, "master"), Getenv: noEnv}.Master()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{other, dir, filepath.Join(dir, "late"), filepath.Join(dir, "master.d"), filepath.Join(dir, "more")}
	slices.Sort(want)
	got, links := m.Folders()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if link := filepath.Join(dir, "more/b.conf"); !slices.Equal(links, []string{link}) {
		t.Errorf("links: got %q, want %q", links, link)
	}
}

func TestFollowLinks(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, l := range [][2]string{{"b/c", "a"}, {"../d", "b/c"}, {"round", "about"}, {"about", "round"}} {
		if err := errors.Join(os.MkdirAll(path("b"), 0o700), os.MkdirAll(path("d"), 0o700),
			os.Symlink(l[0], path(l[1]))); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		from, real string
		links      []string
	}{
		{"d/x", "d/x", nil},
		{"a/none/x", "d/none/x", []string{path("a"), path("b/c")}},
	} {
		real, links := followLinks(path(tt.from))
		if real != path(tt.real) || !slices.Equal(links, tt.links) {
			t.Errorf("%s: got %s, %q", tt.from, real, links)
		}
	}
	if _, links := followLinks(path("round/x")); len(links) != mostLinks {
		t.Errorf("links in a circle: %d", len(links))
	}
}

// TestLoadAgain: a reload does not treat a broken or missing file as an empty one, and renames none.
func TestLoadAgain(t *testing.T) {
	dir := write(t, "minion", "id: x\n", "minion.d/_schedule.conf", "a: [\n")
	l := Loader{Path: filepath.Join(dir, "minion"), Getenv: noEnv, Again: true}
	if _, err := l.Minion(); err == nil {
		t.Error("a broken _schedule.conf is taken")
	}
	if _, err := os.Stat(filepath.Join(dir, "minion.d/_schedule.conf")); err != nil {
		t.Error("it was put aside")
	}
	for _, change := range []func() error{
		func() error { return os.Remove(filepath.Join(dir, "minion.d/_schedule.conf")) },
		func() error { return os.Remove(filepath.Join(dir, "minion")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(l.Path); err == nil {
			if _, err := l.Minion(); err != nil {
				t.Error(err)
			}
		} else if _, err := l.Minion(); err == nil {
			t.Error("a missing file is taken")
		}
	}
}
