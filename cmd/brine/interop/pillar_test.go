//go:build interop

package interop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pillarCommands are commands for Salt minions about their pillar.
var pillarCommands = [][]string{
	{"pillar.items", "unmask=True"},
	{"pillar.items"},
	{"pillar.items", "pillarenv=dev", "unmask=True"},
	{"pillar.items", "pillar={'own': 1, 'app': {'port': 9}}", "unmask=True"},
	{"pillar.get", "app:port", "unmask=True"},
	{"pillar.raw"},
	{"pillar.ls"},
	{"pillar.obfuscate"},
	{"pillar.ext", "{'cmd_yaml': 'echo extra: 1'}", "unmask=True"},
	{"saltutil.refresh_pillar", "wait=True"},
	{"state.show_sls", "app"},
	{"state.apply", "app"},
	{"state.apply", "app", "pillar={'app': {'port': 7}}"},
	{"state.highstate"},
}

// pillarTree are the files of pillars, and of states that use them.
var pillarTree = map[string]string{
	"pillar/top.sls": "base:\n  '*':\n    - app\n  'G@role:web and *':\n    - match: compound\n    - web\n  " +
		"nobody:\n    - secret\n",
	"pillar/app/init.sls": "include:\n  - .ports\n  - users:\n      key: team:members\n      defaults: {shell: " +
		"/bin/sh}\napp:\n  name: {{ grains.id }}\n  os: {{ salt['grains.get']('kernel') }}\n",
	"pillar/app/ports.sls": "{% import_yaml 'ports.yaml' as ports %}\napp:\n  port: {{ ports.http }}\n  list: [1, 2]\n",
	"pillar/ports.yaml":    "http: 80\n",
	"pillar/users.sls":     "a: {shell: {{ shell }}}\n",
	"pillar/web.sls":       "web: {{ pillar.get('x', 'none') }}\nbroken: {{ 1 }}\n",
	"pillar/secret.sls":    "secret: 1\n",
	"dev/top.sls":          "dev:\n  '*':\n    - app\n",
	"dev/app.sls":          "app: {port: 8080}\n",
	"states/top.sls":       "base:\n  '*':\n    - app\n",
	"states/app.sls": "say:\n  test.configurable_test_state:\n    - changes: True\n    - result: True\n    - " +
		"comment: {{ pillar.app.port }} {{ salt['pillar.get']('app:name') }} {{ pillar.team.members.a.shell }}\n",
}

// treeFleet starts a master of a kind with a folder of files, and real minions. conf is the part of the
// configuration about the files, with ROOT for that folder.
func treeFleet(t *testing.T, master string, files map[string]string, conf string) *fleet {
	t.Helper()
	kinds := map[string]string{}
	for _, release := range chosen(reference, "3006") {
		kinds["m"+release] = release
	}
	f := newFleet(t, master, brine, kinds, plain)
	for name, text := range files {
		f.write(f.masterPath("tree/"+name), text)
	}
	f.configMaster(fleetMaster + strings.ReplaceAll(conf, "ROOT", f.masterPath("tree")))
	f.startAll()
	f.acceptAll()
	return f
}

// answersAlike gives both fleets the same commands. Their answers must be the same.
func answersAlike(t *testing.T, ours, theirs *fleet, commands [][]string) {
	t.Helper()
	for i, words := range commands {
		t.Run(fmt.Sprintf("%02d %s", i, words[0]), func(t *testing.T) {
			got := make(chan map[string]any, 1)
			go func() {
				defer close(got) // for a test that has ended
				got <- ours.answered(t, words)
			}()
			want := theirs.answered(t, words)
			if diff := cmp.Diff(want, <-got); diff != "" {
				t.Errorf("%q: behind Salt -, behind brine +\n%s", words, diff)
			}
			t.Logf("%.300v", want)
		})
	}
}

// pillarRoots are the options for the pillar tree.
const pillarRoots = "pillar_roots:\n  base: [ROOT/pillar]\n  dev: [ROOT/dev]\nfile_roots:\n  base: " +
	"[ROOT/states]\non_demand_ext_pillar: [cmd_yaml]\n" +
	"ext_pillar:\n  - cmd_yaml: \"echo 'ext: {from: %s}'\"\n"

// TestCompiledPillar gives Salt minions behind a brine master and behind a Salt 3008 master the same pillar
// tree and the same commands. The answers of the minions are the same, and so are those of the runners.
func TestCompiledPillar(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	ours, theirs := treeFleet(t, brine, pillarTree, pillarRoots), treeFleet(t, reference, pillarTree, pillarRoots)
	answersAlike(t, ours, theirs, pillarCommands)
	id := ours.ids[0]
	for _, words := range [][]string{{"pillar.show_pillar", id}, {"pillar.show_pillar", id, "pillarenv=dev"},
		{"pillar.show_pillar", "nosuch", "role=web"}, {"pillar.show_top", id}} {
		args := append([]string{"--out=json"}, words...)
		want := theirs.mustRun(reference, "salt-run", args...).stdout
		if got := ours.mustRun(brine, "salt-run", args...).stdout; got != want {
			t.Errorf("salt-run %q: got %s, want %s", words, got, want)
		}
	}
}
