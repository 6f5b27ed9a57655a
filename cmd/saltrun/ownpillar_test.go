package saltrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution"
	"brine/modules/fleet/datacache"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// needMaster are words in templates that need a running master, or that depend on which program runs.
var needMaster = []string{"manage.", "saltutil.cmd", "minions.connected", "__cli"}

// layBeside writes a master's files: two accepted minions with cached grains and mine, and a file server.
func layBeside(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"etc/master": "root_dir: " + dir + "\nid: m_master\nmaster_id: m\nfile_roots: {base: [" + dir +
			"/srv], dev: [], qa: []}\npillar_roots: {base: [" + dir + "/pillar]}\n",
		"srv/a.txt":      "a\n",
		"pillar/top.sls": "base:\n  db1: [fixed]\n", "pillar/fixed.sls": "fixed: 1\n",
		"own/top.sls": "base:\n  '*': [p]\n", "etc/salt/pki/master/m.pem": "", "etc/salt/pki/master/m.pub": "",
		"etc/salt/pki/master/minions/web1": "k", "etc/salt/pki/master/minions/db1": "k",
		"var/cache/salt/master/proc/.keep": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	banks, err := datacache.OpenBanks(filepath.Join(dir, "var/cache/salt/master"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"web1", "db1"} {
		if err := errors.Join(banks.StoreGrains(id, payload.M("id", id)),
			banks.StoreMine(id, payload.M("test.ping", true))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwnPillarAsSalt: a pillar that a minion compiles itself can use the master whose files are beside it, as
// in Salt 3008.3 (actors/master/testdata/functions.py).
func TestOwnPillarAsSalt(t *testing.T) {
	raw, err := os.ReadFile("../../actors/master/testdata/functions.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Template, Own string }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	layBeside(t, dir)
	opts := payload.M("conf_file", dir+"/etc/minion", "id", "web1", "file_client", "local", "__role", "minion",
		"pillar_roots", payload.M("base", []any{dir + "/own"}), "cachedir", dir+"/minion", "renderer", "jinja|yaml")
	env := execution.NewEnv(execution.Machine{ID: "web1", Opts: opts})
	told := &lines{}
	env.Host.Log = told
	OfferMaster(slog.New(slog.DiscardHandler))(env)
	own, ran := pillar.NewOwn(env), 0
rows:
	for _, row := range rows {
		for _, part := range needMaster {
			if strings.Contains(row.Template, part) {
				continue rows
			}
		}
		ran++
		text := "#!jinja|json\n{% set out %}" + row.Template + "{% endset %}{\"v\": {{ out | tojson }}}\n"
		if err := os.WriteFile(dir+"/own/p.sls", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		*told = nil
		got, err := own.Compile(t.Context(), loader.PillarQuery{})
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(strings.TrimSpace(row.Own), "\n")
		want, failed := strings.CutPrefix(want, "error SaltRenderError: ")
		value, isText := got.Value("v").(string)
		value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
		switch want = strings.TrimSuffix(want, "Traceback"); {
		case failed && strings.Contains(fmt.Sprint(*told), want), !failed && isText && strings.HasPrefix(value, want):
		default:
			t.Errorf("%s\n got %v, %s\nwant %s", row.Template, got, *told, want)
		}
	}
	if ran < 45 {
		t.Errorf("%d templates are too few", ran)
	}
}

// lines is a log.
type lines []string

func (l *lines) Log(_ slog.Level, text string) { *l = append(*l, text) }

func (l *lines) LogAs(_ string, _ slog.Level, text string) { *l = append(*l, text) }
