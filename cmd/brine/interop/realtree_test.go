//go:build interop

package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// siteTree is a realistic tree: nginx in the form of a formula, users, ssh, cron, an application with its own
// modules, and their pillars. Changes to the machine are only tested.
const siteTree = "testdata/site"

// siteMaster are the options for the tree. ROOT is its folder, KEYS that of gpg's keys.
const siteMaster = `file_roots: {base: [ROOT/states], dev: [ROOT/dev, ROOT/states]}
pillar_roots: {base: [ROOT/pillar], dev: [ROOT/pillardev]}
gpg_keydir: KEYS
pillar_source_merging_strategy: smart
ext_pillar:
  - cmd_yaml: "printf 'external: {of: \"%s\"}'"
`

// siteCommands are the commands about the tree.
var siteCommands = [][]string{
	{"pillar.items", "unmask=True"},
	{"pillar.items", "pillarenv=dev", "unmask=True"},
	{"pillar.get", "secrets:database:password", "unmask=True"},
	{"pillar.get", "secrets"},
	{"pillar.obfuscate"},
	{"saltutil.sync_all"},
	{"saltutil.sync_all"},
	{"inventory.version", "api"},
	{"inventory.hosts"},
	{"grains.get", "inventory:racks"},
	{"state.show_top"},
	{"state.show_highstate"},
	{"state.show_lowstate"},
	{"state.show_sls", "nginx", "test=True"},
	{"state.highstate", "test=True"},
	{"state.highstate"},
	{"state.highstate"},
	{"state.apply", "nginx", "pillar={'nginx': {'sites': {'added': {'names': ['a']}}, 'server': " +
		"{'worker_processes': 9}}}"},
	{"state.apply", "nginx.config,ssh", "pillar={'ssh': {'port': 22, 'options': {}}}", "test=True"},
	{"state.apply", "nginx", "saltenv=dev"},
	{"state.apply", "nginx", "saltenv=dev", "pillarenv=dev", "pillar={'answer': False}"},
	{"state.apply", "app", "concurrent=True"},
	{"state.apply", "common", "exclude=[{'id': 'common_block'}]"},
	{"state.sls_id", "ssh_keys", "ssh"},
	{"state.single", "file.managed", "name=ROOT/single", "source=salt://common/hosts.jinja", "template=jinja",
		"defaults={'own': x, 'hosts': {}}", "test=True"},
	{"state.apply", "broken"},
	{"state.apply", "broken.include"},
	{"state.apply", "broken.import"},
	{"state.apply", "broken.yaml"},
	{"state.apply", "broken.fails"},
	{"state.apply", "none"},
	{"state.apply", "nginx", "saltenv=none"},
	{"state.sls_exists", "nginx.sites"},
	{"state.show_states"},
	{"jinja.load_map", "nginx/map.jinja", "nginx"},
	{"cmd.script", "salt://ssh/files/check.sh", "args='one two'"},
	{"cmd.run", "echo {{ grains.id }} {{ pillar.stage }}", "template=jinja"},
	{"file.get_source_sum", "source=salt://nginx/files/default/mime.types",
		"source_hash=salt://nginx/files/default/mime.types.sha256", "source_hash_name=mime.types"},
}

// secretPillar is a pillar with texts that gpg encrypted for a new key in dir.
func secretPillar(t *testing.T, dir string) string {
	t.Helper()
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("gpg is not installed: ", err)
	}
	gpg := func(input string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "gpg", append([]string{"--homedir", dir, "--batch", "--quiet",
			"--no-tty"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gpg %q: %v", args, err)
		}
		return string(out)
	}
	gpg("", "--passphrase", "", "--quick-generate-key", "site@example.org", "future-default", "default", "never")
	box := gpg("top: secret", "--armor", "--trust-model", "always", "--encrypt", "-r", "site@example.org")
	return "#!jinja|yaml|gpg\nsecrets:\n  database:\n    user: {{ grains.id }}\n    password: |\n      " +
		strings.ReplaceAll(strings.TrimSpace(box), "\n", "\n      ") +
		"\n  list:\n    - plain\n    - |\n      " + strings.ReplaceAll(strings.TrimSpace(box), "\n", "\n      ") + "\n"
}

// siteFleet starts a master of a kind with the tree, and minions of Salt.
func siteFleet(t *testing.T, master, keys, secret string) *fleet {
	t.Helper()
	kinds := map[string]string{}
	for _, release := range chosen(reference, "3006") {
		kinds["m"+release] = release
	}
	f := newFleet(t, master, brine, kinds, plain)
	tree := f.masterPath("tree")
	if err := os.CopyFS(tree, os.DirFS(siteTree)); err != nil {
		t.Fatal(err)
	}
	f.write(filepath.Join(tree, "pillar/secrets/init.sls"), secret)
	f.configMaster(fleetMaster + strings.NewReplacer("ROOT", tree, "KEYS", keys).Replace(siteMaster))
	for _, id := range f.ids {
		f.configMinion(id, fleetMinion+fmt.Sprintf("  out: %s/out\nsign_pub_messages: True\n", f.root))
	}
	f.startAll()
	f.acceptAll()
	return f
}

// TestRealTree applies the tree to minions of Salt 3008 and 3006 behind a brine master and behind a Salt 3008
// master. Their returns, caches and files are the same.
func TestRealTree(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	keys, err := os.MkdirTemp("/tmp", "gk") // short, because gpg's sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", keys, "--kill", "all").Run()
		_ = os.RemoveAll(keys)
	})
	secret := secretPillar(t, keys)
	ours, theirs := siteFleet(t, brine, keys, secret), siteFleet(t, reference, keys, secret)
	answersAlike(t, ours, theirs, siteCommands)
	for _, id := range ours.ids {
		for _, dir := range []string{"out-" + id, id + "/var/cache/salt/minion/files",
			id + "/var/cache/salt/minion/extmods"} {
			want := content(t, theirs.root, dir)
			if diff := cmp.Diff(want, content(t, ours.root, dir)); diff != "" {
				t.Errorf("%s: behind Salt -, behind brine +\n%s", dir, diff)
			}
			if len(want) < 3 {
				t.Errorf("%s has %d entries", dir, len(want))
			}
		}
	}
	states := ours.answered(t, []string{"state.highstate"})
	for id, v := range states { // the tree must not fail on both sides
		if m, _ := v.(map[string]any); len(m) < 20 {
			t.Errorf("%s applied %d states: %.300v", id, len(m), v)
		}
	}
}
