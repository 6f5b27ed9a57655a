//go:build interop

package interop

import (
	"io/fs"
	"os"
	"testing"
)

// formulaTrees are four trees of formulas with their pillars.
const formulaTrees = "../../../modules/execution/testdata/formulas"

// formulaCommands are commands for Salt minions about the formulas. Those that would change the machine run
// with test=True.
var formulaCommands = [][]string{
	{"pillar.items", "unmask=True"},
	{"state.show_top"},
	{"state.show_highstate"},
	{"state.show_low_sls", "users"},
	{"state.show_sls", "web"},
	{"state.sls_exists", "web.config"},
	{"state.sls_id", "users_anna_sudoers", "users", "test=True"},
	{"state.show_lowstate"},
	{"jinja.load_map", "web/map.jinja", "web"},
	{"defaults.get", "monitoring:agent:port"},
	{"cp.get_template", "salt://web/files/default/nginx.conf.jinja", "ROOT/got.conf", "makedirs=True",
		"web={package: p, user: u, server: {config: {b: 1, a: [x, y]}}}"},
}

// TestFormulas: Salt minions get the same results from formulas behind a brine master as behind a Salt 3008
// master.
func TestFormulas(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	files := map[string]string{}
	tree := os.DirFS(formulaTrees)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files["pillar/top.sls"] = "base:\n  '*': [common, web, users, db, monitoring]\n"
	files["states/top.sls"] = "base:\n  '*': [web, users, db, monitoring]\n"
	const conf = "pillar_roots:\n  base: [ROOT/pillar]\nfile_roots:\n  base: [ROOT/states]\n"
	answersAlike(t, treeFleet(t, brine, files, conf), treeFleet(t, reference, files, conf), formulaCommands)
}
