package master

import (
	"fmt"
	"path/filepath"
	"testing"

	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// gitTree is a URL of a repository of the tests of gitfs.
func gitTree(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs("../../modules/fileserver/gitfs/testdata")
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + dir + "/" + name
}

// TestGit: files and pillars of repositories reach minions, also while those that fetch them are dead.
func TestGit(t *testing.T) {
	r := newSite(t, "fileserver_backend: [roots, git]", rootsLine(tree(t)), noPillar(t), "chaos: True",
		"gitfs_remotes: ['"+gitTree(t, "repos/main.git")+"']", "ext_pillar: [{git: ['master "+gitTree(t,
			"pillar_repos/main.git")+"']}]")
	r.faulty = true
	r.start()
	m := r.minion("m1")
	asked := func() error {
		if got := m.ask(cmd("_serve_file", "path", "dev.txt", "saltenv", "dev", "loc", 0)); !payload.Equal(got,
			payload.M("data", "only dev", "dest", "dev.txt")) {
			return fmt.Errorf("dev.txt: %v", got)
		}
		if got := m.ask(cmd("_serve_file", "path", "a.txt", "saltenv", "base", "loc", 0)); !payload.Equal(got,
			payload.M("data", "one", "dest", "a.txt")) {
			return fmt.Errorf("a.txt of roots: %v", got)
		}
		want := payload.M("from", "main", "list", []any{"a"}, "map", payload.M("x", 1))
		if got, err := m.pillar(); err != nil || !got.Equal(want) {
			return fmt.Errorf("pillar: %v, %v", got, err)
		}
		return nil
	}
	r.eventually("all is fetched", asked)
	for _, name := range []string{"FileServer", "GitPillar"} {
		if err := r.m.Supervisor().Inject(name, supervisor.FaultPanic); err != nil {
			t.Fatal(err)
		}
		if err := asked(); err != nil {
			t.Errorf("without %s: %v", name, err)
		}
		r.eventually(name+" is back", func() error {
			back := false
			r.tree(func(c stats.Child) { back = back || c.Name == name && c.Incarnation == 2 })
			if !back {
				return fmt.Errorf("it is not")
			}
			return nil
		})
	}
	if err := asked(); err != nil {
		t.Error(err)
	}
}

// TestGitPillarOfNobody: a repository that is not the master's is not fetched for a minion, and one that cannot be used
// ends the start.
func TestGitPillarOfNobody(t *testing.T) {
	r := newRig(t, noPillar(t), "on_demand_ext_pillar: [git]")
	got, err := r.minion("m1").pillar("ext", payload.M("git", []any{"master " + gitTree(t, "pillar_repos/main.git")}))
	if err != nil || got.Has("from") || len(got.List("_errors")) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
