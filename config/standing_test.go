package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
)

// standings reads the whole table.
func standings(t *testing.T) map[string]standing {
	t.Helper()
	all := map[string]standing{}
	err := eachStanding(func(key, text string) bool {
		one, err := readStanding(text)
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if _, twice := all[key]; twice {
			t.Errorf("%s stands there twice", key)
		}
		all[key] = one
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// howToClassify tells who added an option what is missing.
const howToClassify = "add a line to config/salt3008/standing.txt (its head says how), then run: go test ./config " +
	"-run OptionsDoc -write"

// Every option of Salt, and every one that brine reads, is classified; no protection is only said to be given.
func TestStandingIsComplete(t *testing.T) {
	all := standings(t)
	for _, name := range []string{roleMaster, roleMinion, "types"} {
		opts, err := table(name)
		if err != nil {
			t.Fatal(err)
		}
		for k := range opts.All() {
			if _, ok := all[python.Str(k)]; !ok {
				t.Errorf("%s of Salt's table %s has no verdict: %s", k, name, howToClassify)
			}
		}
	}
	for role, typ := range map[string]reflect.Type{roleMaster: reflect.TypeFor[Master](),
		roleMinion: reflect.TypeFor[Minion]()} {
		for _, f := range fields(typ) {
			if _, ok := all[f.key]; !ok {
				t.Errorf("%s of the %s has no verdict: %s", f.key, role, howToClassify)
			}
		}
		for k := range brineDefaults(role).All() {
			if _, ok := all[python.Str(k)]; !ok {
				t.Errorf("%s, an option of brine's %s, has no verdict: %s", k, role, howToClassify)
			}
		}
	}
	for key, one := range all {
		for _, rules := range [][]rule{one.master, one.minion} {
			for _, r := range rules {
				if (r.act == actWarn || r.act == actRefuse) && one.why == "" {
					t.Errorf("%s: no reason", key)
				}
			}
		}
	}
}

// standingOf checks a configuration of a role.
func standingOf(t *testing.T, role, text string) ([]Notice, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), role)
	if err := os.WriteFile(path, []byte("root_dir: "+t.TempDir()+"\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	if role == roleMinion {
		m, err := LoadMinion(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m.CheckStanding()
	}
	m, err := LoadMaster(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.CheckStanding()
}

func TestCheckStanding(t *testing.T) {
	for _, tt := range []struct{ role, text, refused, warned string }{
		{roleMaster, "", "", ""},
		{roleMaster, "auto_accept: True\npublisher_acl: {ann: [test.ping]}\nmy_own: {a: b}\n", "", ""},
		{roleMaster, "ssl: {certfile: /x}", "ssl", ""},
		{roleMaster, "ssl: False", "", ""},
		{roleMaster, "ssl:", "", ""},
		{roleMaster, "auth_mode: 2", "auth_mode", ""},
		{roleMaster, "auth_mode: 1", "", ""},
		{roleMaster, "auth_mode: 0", "", ""},
		{roleMaster, "transport: tcp", "transport", ""},
		{roleMaster, "cluster_id: one\ncluster_peers: [a]\ncluster_pki_dir: /x\n", "cluster_id", ""},
		{roleMaster, "keys.cache_driver: mmap_key", "keys.cache_driver", ""},
		{roleMaster, "eauth_tokens: rediscluster", "", ""},
		{roleMaster, "eauth_tokens.cache_driver: etcd", "eauth_tokens.cache_driver", ""},
		{roleMaster, "fips_mode: True", "fips_mode", ""},
		{roleMaster, "request_server_aes_session: 60", "request_server_aes_session", ""},
		{roleMaster, "event_return: [rawfile_json, nobody]", "event_return", ""},
		{roleMaster, "event_return: rawfile_json", "", ""},
		{roleMaster, "event_return: []\nschedule: {}\nreactor:\n", "", ""},
		{roleMaster, "reactor: [{'a/b': [/x.sls]}]", "", ""},
		{roleMaster, "reactor: /etc/salt/reactor.map", "", ""},
		{roleMaster, "engines: [reactor]", "", ""}, // which there are is known to modules/engines
		{roleMaster, "schedule: {j: {function: test.arg, seconds: 5}}", "", ""},
		{roleMaster, "ext_job_cache: nobody", "ext_job_cache", ""},
		{roleMaster, "master_job_cache: nobody", "master_job_cache", ""},
		{roleMaster, "master_job_cache: redis\next_job_cache: sqlite3", "", ""},
		{roleMaster, "master_job_cache: local_cache", "", ""},
		{roleMaster, "event_return_niceness: 5", "", "event_return_niceness"},
		{roleMaster, "publisher_acll: {ann: [test.ping]}", "", "publisher_acll"},
		{roleMaster, "log_granular_levels: {salt: debug}", "", "log_granular_levels"},
		{roleMaster, "pillar_path: /srv/pillar2", "", "pillar_path"}, // options of spm
		{roleMinion, "pillar_path: /srv/pillar2", "", "pillar_path"},
		{roleMaster, "reactor_path: /srv/reactor2", "", "reactor_path"},
		{roleMinion, "reactor_path: /srv/reactor2", "", "reactor_path"},
		{roleMaster, "formula_path: /srv/formulas", "", "formula_path"},
		{roleMaster, "master_type: func", "", ""}, // an option of minions
		{roleMinion, "master_type: func\nmaster: a.b", "master_type", ""},
		{roleMinion, "master_type: failover\nmaster: [a, b]", "master_type", ""},
		{roleMinion, "master_type: disable", "master_type", ""},
		{roleMinion, "return: mongo", "return", ""},
		{roleMinion, "schedule: {enabled: true, __mine_interval: {function: mine.update, minutes: 60}}", "", ""},
		{roleMinion, "schedule: {__mine_interval: {}, j: {function: test.ping}}", "", ""},
		{roleMinion, "master_type: str", "", ""},
		{roleMinion, "modules_max_memory: 100", "modules_max_memory", ""},
		{roleMinion, "modules_max_memory: -1", "", ""},
		{roleMinion, "disable_modules: [cmd]\nwhitelist_modules: [test]\ndisable_returners: [mysql]\nunique_jid: True",
			"", ""},
		{roleMinion, "disable_grains: [core]", "disable_grains", ""},
		{roleMinion, "beacons: {load: []}", "", "beacons"},
		{roleMinion, "proxy_password: Secret", "", "proxy_password"},
	} {
		notices, err := standingOf(t, tt.role, tt.text)
		var bad *Error
		switch {
		case tt.refused == "" && err != nil:
			t.Errorf("%s %q: %v", tt.role, tt.text, err)
		case tt.refused != "" && (!errors.As(err, &bad) || bad.Key != tt.refused || bad.Code != ExitNotYet ||
			bad.Line == 0 || !strings.Contains(bad.Error(), tt.refused)):
			t.Errorf("%s %q: got %v, want a refusal of %s", tt.role, tt.text, err, tt.refused)
		}
		if got := len(notices); tt.warned == "" && got > 0 || tt.warned != "" &&
			(got != 1 || !strings.Contains(notices[0].Text, "'"+tt.warned+"'")) {
			t.Errorf("%s %q: notices %v, want one of %q", tt.role, tt.text, notices, tt.warned)
		}
		for _, n := range notices {
			if strings.Contains(n.Text, "Secret") {
				t.Errorf("a secret is shown: %s", n.Text)
			}
		}
	}
}

func TestSameValue(t *testing.T) {
	for _, tt := range []struct {
		v, std any
		want   bool
	}{{nil, false, true}, {[]any{}, "", true}, {int64(0), nil, true}, {true, false, false}, {"a", "a", true},
		{int64(1), true, false}, {payload.M("a", int64(1)), payload.M("a", int64(1)), true},
		{[]any{"x"}, []any{}, false}} {
		if got := sameValue(tt.v, tt.std); got != tt.want {
			t.Errorf("sameValue(%v, %v): got %v", tt.v, tt.std, got)
		}
	}
}

func BenchmarkCheckStanding(b *testing.B) {
	path := filepath.Join(b.TempDir(), "master")
	if err := os.WriteFile(path, []byte("interface: 127.0.0.1\nauto_accept: True\nworker_threads: 3\n"),
		0o600); err != nil {
		b.Fatal(err)
	}
	m, err := LoadMaster(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.CheckStanding(); err != nil {
			b.Fatal(err)
		}
	}
}
