//go:build interop

package interop

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitConf serves files and pillars from two repositories. One has branches, a tag and plain names. The other
// has its own options for each environment. ROOT is the folder of the repositories. Only the second one is
// fetched automatically.
const gitConf = `fileserver_backend: [git, roots]
gitfs_provider: gitpython
gitfs_base: main
gitfs_update_interval: 3600
gitfs_saltenv_blacklist: [hidden]
gitfs_remotes:
  - file://ROOT/states.git
  - file://ROOT/formulas.git:
    - name: formulas
    - root: salt
    - mountpoint: salt://mounted
    - base: trunk
    - disable_saltenv_mapping: True
    - update_interval: 3
    - saltenv:
      - dev:
        - ref: develop
        - mountpoint: salt://dev/mounted
      - pinned:
        - ref: v1
        - root: ''
file_roots:
  base: [ROOT/roots]
git_pillar_provider: gitpython
git_pillar_update_interval: 3600
ext_pillar:
  - git:
    - main file://ROOT/pillar.git:
      - env: base
    - develop file://ROOT/pillar.git:
      - env: dev
      - root: nested
pillar_merge_lists: True
`

// gitFiles are the files in the branches of the repositories, as REPOSITORY BRANCH PATH, and in the folder of
// files.
var gitFiles = map[string]string{
	"states main top.sls": "base:\n  '*': [web, mounted.formula]\n",
	"states main web/init.sls": "say:\n  test.configurable_test_state:\n    - changes: True\n    - " +
		"result: True\n    - comment: {{ pillar.get('port', 'none') }} {{ " +
		"salt['cp.get_file_str']('salt://web/text') }}\n",
	"states main web/text":    "text of main",
	"states main only/in/git": "git",
	"states main both":        "git wins",
	"states dev web/init.sls": "say:\n  test.configurable_test_state:\n    - changes: False\n    - " +
		"result: True\n    - comment: of dev\n",
	"states dev web/text":                   "text of dev",
	"states hidden secret":                  "not served",
	"states feature/x feature":              "a branch with a slash",
	"formulas trunk salt/formula/init.sls":  "formula:\n  test.nop\n",
	"formulas trunk outside":                "outside of the root",
	"formulas trunk salt/number":            "1",
	"formulas develop salt/formula/dev.sls": "dev:\n  test.nop\n",
	"pillar main top.sls":                   "base:\n  '*': [app]\n",
	"pillar main app.sls":                   "port: 80\nid: {{ grains.id }}\nlist: [1]\n",
	"pillar develop nested/top.sls":         "dev:\n  '*': [app]\n",
	"pillar develop nested/app.sls":         "port: 8080\nlist: [2]\n",
}

// gitCommands are commands for minions about these files.
var gitCommands = [][]string{
	{"cp.envs"},
	{"cp.list_master"},
	{"cp.list_master", "saltenv=dev"},
	{"cp.list_master", "saltenv=pinned"},
	{"cp.list_master", "saltenv=feature/x"},
	{"cp.list_master", "saltenv=hidden"},
	{"cp.hash_file", "salt://web/text", "saltenv=dev"},
	{"cp.get_file", "salt://both", "ROOT/got/both", "makedirs=True"},
	{"cp.get_file_str", "salt://own"},
	{"cp.get_file_str", "salt://web/text?saltenv=dev"},
	{"cp.get_file_str", "salt://secret", "saltenv=hidden"},
	{"cp.get_file_str", "salt://mounted/outside"},
	{"cp.get_file_str", "salt://link"},
	{"cp.get_dir", "salt://web", "ROOT/dir-{{ grains.id }}", "template=jinja"},
	{"cp.cache_file", "salt://only/in/git"},
	{"cp.cache_master", "dev"},
	{"pillar.items", "unmask=True"},
	{"pillar.items", "pillarenv=dev", "unmask=True"},
	{"state.show_top"},
	{"state.apply", "web", "saltenv=dev"},
	{"state.highstate"},
}

// git runs git in a folder of the site.
func (s *site) git(dir string, args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@y", "-c",
		"init.defaultBranch=first"}, args...)...)
	cmd.Env = append(s.env(), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// push commits a file to a branch of a repository of the site and pushes it. It makes the repository and the
// branch if necessary.
func (s *site) push(repository, branch, path, text string) {
	s.t.Helper()
	bare, work := s.masterPath("git/"+repository+".git"), s.masterPath("work/"+repository)
	if _, err := os.Stat(bare); err != nil {
		for _, dir := range []string{bare, work} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				s.t.Fatal(err)
			}
		}
		s.git(bare, "init", "-q", "--bare")
		s.git(work, "init", "-q")
	}
	if _, err := os.Stat(filepath.Join(work, ".git/refs/heads", branch)); err != nil {
		s.git(work, "checkout", "-q", "--orphan", branch)
		s.git(work, "rm", "-rfq", "--ignore-unmatch", ".")
	} else {
		s.git(work, "checkout", "-q", branch)
	}
	s.write(filepath.Join(work, path), text)
	s.git(work, "add", "-A")
	s.git(work, "commit", "-q", "-m", "one more")
	s.git(work, "push", "-q", bare, branch)
}

// gitFleet starts a master of a kind with separate repositories, and minions of Salt and of brine.
func gitFleet(t *testing.T, master string) *fleet {
	t.Helper()
	kinds := map[string]string{"mbrine": brine}
	for _, release := range chosen(reference, "3006") {
		kinds["m"+release] = release
	}
	f := newFleet(t, master, brine, kinds, plain)
	for _, name := range slices.Sorted(maps.Keys(gitFiles)) {
		where := strings.SplitN(name, " ", 3)
		f.push(where[0], where[1], where[2], gitFiles[name])
	}
	work := f.masterPath("work/states")
	f.git(work, "checkout", "-q", "main")
	if err := os.Symlink("web/text", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	f.push("states", "main", "last", "last")
	formulas := f.masterPath("work/formulas")
	f.git(formulas, "tag", "v1", "trunk")
	f.git(formulas, "push", "-q", f.masterPath("git/formulas.git"), "v1")
	for name, text := range map[string]string{"both": "never seen", "own": "of the folder"} {
		f.write(f.masterPath("git/roots/"+name), text)
	}
	f.configMaster(fleetMaster + strings.ReplaceAll(gitConf, "ROOT", f.masterPath("git")))
	f.startAll()
	f.acceptAll()
	f.mustRun(brine, "salt-run", "fileserver.update")
	f.mustRun(brine, "salt-run", "git_pillar.update")
	f.expectEach(brine, f.ids, func(any) error { return nil }, "*", "saltutil.refresh_pillar", "wait=True")
	return f
}

// TestGitServed gives minions behind a brine master and behind a Salt 3008 master files and pillars from equal
// repositories. Their answers are the same, before and after a push. The master serves a push after a command
// to update, or after the interval of the remote.
func TestGitServed(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	ours, theirs := gitFleet(t, brine), gitFleet(t, reference)
	answersAlike(t, ours, theirs, gitCommands)
	runsAlike := func(words ...string) {
		// Salt's salt-run beside a brine master has its own copies of the repositories, and fetches them itself
		args := append([]string{"--out=json"}, words...)
		want := strings.ReplaceAll(theirs.mustRun(reference, "salt-run", args...).stdout, theirs.root, "ROOT")
		if got := strings.ReplaceAll(ours.mustRun(brine, "salt-run", args...).stdout, ours.root, "ROOT"); got != want {
			t.Errorf("salt-run %q: got %s, want %s", words, got, want)
		}
	}
	for _, words := range [][]string{{"fileserver.envs", "sources=True"}, {"fileserver.file_list"},
		{"fileserver.file_list", "saltenv=dev", "backend=git"}, {"fileserver.dir_list", "backend=gitfs"},
		{"fileserver.symlink_list", "backend=git"}} {
		runsAlike(words...)
	}
	for _, f := range []*fleet{ours, theirs} {
		f.push("states", "main", "web/text", "pushed")
		f.push("states", "new", "web/text", "a new branch")
		f.push("pillar", "main", "app.sls", "port: 80\nfresh: 81\n")
		f.push("formulas", "trunk", "salt/number", "2")
	}
	for _, f := range []*fleet{ours, theirs} { // its interval is over
		f.eventually(patience, "what was pushed behind "+f.master, func() error {
			return all(f.returns(brine, "*", "cp.get_file_str", "salt://mounted/number"), "2", f.ids...)
		})
		f.expect(brine, "text of main", f.ids, "*", "cp.get_file_str", "salt://web/text")
	}
	runsAlike("fileserver.update")
	runsAlike("git_pillar.update")
	runsAlike("fileserver.envs")
	ours.expect(brine, "pushed", ours.ids, "*", "cp.get_file_str", "salt://web/text")
	answersAlike(t, ours, theirs, [][]string{{"cp.get_file_str", "salt://web/text"}, {"cp.list_master", "saltenv=new"},
		{"saltutil.refresh_pillar", "wait=True"}, {"pillar.items", "unmask=True"}, {"state.apply", "web"}})
	ours.expect(brine, "81", []string{"mbrine"}, "mbrine", "pillar.get", "fresh", "unmask=True")
	before := ours.answered(t, []string{"cp.list_master"})
	runsAlike("fileserver.clear_cache")
	runsAlike("fileserver.update")
	if diff := cmp.Diff(before, ours.answered(t, []string{"cp.list_master"})); diff != "" {
		// a Salt master lists no files for a while
		t.Errorf("files after clear_cache and update, before - after +\n%s", diff)
	}
	for _, id := range ours.ids {
		for _, dir := range []string{id + "/var/cache/salt/minion/files", "got", "dir-" + id} {
			want := content(t, theirs.root, dir)
			if diff := cmp.Diff(want, content(t, ours.root, dir)); diff != "" {
				t.Errorf("%s: behind Salt -, behind brine +\n%s", dir, diff)
			}
			if len(want) == 0 {
				t.Errorf("%s is empty", dir)
			}
		}
	}
}
