package config

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/wire/payload"
)

// unlisted are options of the structs that are in no table of Salt, because its code reads them with a default or only
// if they are set.
var unlisted = []string{
	"id", "user", "conf_file", "zmq_heartbeat_ivl", "zmq_heartbeat_timeout", "autosign_file", "autosign_grains_dir",
	"autoreject_file", "autosign_timeout", "token_dir", "syndic_dir", "peer_run", "presence_events",
	"batch_manager_loop_interval", "ext_processes", "request_channel_timeout", "request_channel_tries", "append_domain",
	"autosign_grains", "module_executors", "mine_functions", "beacons", "minion_pillar_cache",
}

// TestFieldsAreOptions finds misspelled tags: every field must be an option of Salt or of brine, or be in the list
// above.
func TestFieldsAreOptions(t *testing.T) {
	types, err := table("types")
	if err != nil {
		t.Fatal(err)
	}
	known := payload.NewMap(0)
	known.Update(types)
	for _, key := range unlisted {
		known.Set(key, true)
	}
	for role, typ := range map[string]reflect.Type{roleMaster: reflect.TypeFor[Master](),
		roleMinion: reflect.TypeFor[Minion]()} {
		opts, err := defaults(role)
		if err != nil {
			t.Fatal(err)
		}
		known.Update(opts)
		seen := map[string]bool{}
		for _, f := range fields(typ) {
			if !known.Has(f.key) {
				t.Errorf("%s: the field with key %q is no option", role, f.key)
			}
			if seen[f.key] {
				t.Errorf("%s: two fields have key %q", role, f.key)
			}
			seen[f.key] = true
		}
	}
}

// TestDefaultsConvert finds fields whose type cannot hold the default.
func TestDefaultsConvert(t *testing.T) {
	for role, typ := range map[string]reflect.Type{roleMaster: reflect.TypeFor[Master](),
		roleMinion: reflect.TypeFor[Minion]()} {
		opts, err := defaults(role)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields(typ) {
			if v, ok := opts.Get(f.key); ok {
				if _, err := convert(v, f); err != nil {
					t.Errorf("%s: %s: default %v: %v", role, f.key, v, err)
				}
			}
		}
	}
}

func TestParseMaster(t *testing.T) {
	for _, tt := range []struct {
		entry  string
		ipOnly bool
		want   MasterAddr
		err    string
	}{
		{"salt", false, MasterAddr{"salt", 4506}, ""},
		{"salt:1234", false, MasterAddr{"salt", 1234}, ""},
		{"a.example.net:5678", false, MasterAddr{"a.example.net", 5678}, ""},
		{"10.0.0.1:4567", false, MasterAddr{"10.0.0.1", 4567}, ""},
		{"10.0.0.1", true, MasterAddr{"10.0.0.1", 4506}, ""},
		{"[::1]:1234", false, MasterAddr{"::1", 1234}, ""},
		{"[FE80::0001]", false, MasterAddr{"fe80::1", 4506}, ""},
		{"fe80::a00:27ff:fedc:ba98", false, MasterAddr{"fe80::a00:27ff:fedc:ba98", 4506}, ""},
		{"::1", true, MasterAddr{"::1", 4506}, ""},
		{"salt:x", false, MasterAddr{}, `host_port "salt:x" port value "x" is not an integer.`},
		{"salt:70000", false, MasterAddr{}, `host_port "salt:70000" port value "70000" is out of range`},
		{"[::1]x", false, MasterAddr{}, `found ambiguous "x" port in "[::1]x"`},
		{"[nohost]:1", false, MasterAddr{}, `bad hostname: "nohost"`},
		{"[::1", false, MasterAddr{}, `bad hostname: "[::1"`},
		{"a b", false, MasterAddr{}, `bad hostname: "a b"`},
		{"host", true, MasterAddr{}, `'host' does not appear to be an IPv4 or IPv6 address`},
		{"", false, MasterAddr{}, "the master has no name"},
	} {
		got, err := ParseMaster(tt.entry, 4506, tt.ipOnly)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%q: got %v, %q; want %v, %q", tt.entry, got, text, tt.want, tt.err)
		}
	}
}

func TestMasters(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []MasterAddr
	}{
		{"text", "id: x\nmaster: a", []MasterAddr{{"a", 4506}}},
		{"list", "id: x\nmaster: [a, 'b:1', '[::1]:2']\nmaster_port: 5", []MasterAddr{{"a", 5}, {"b", 1}, {"::1", 2}}},
		{"disabled", "id: x\nmaster_type: disable", nil},
		{"local", "id: x\nfile_client: local\nmaster: ''", nil},
		{"local with a master", "id: x\nfile_client: local\nuse_master_when_local: true", []MasterAddr{{"salt", 4506}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, loadMinion(t, "minion", tt.text).Masters); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
