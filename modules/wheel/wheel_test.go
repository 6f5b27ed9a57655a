package wheel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

const pem = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"

// bus collects the events fired.
type bus struct{ tags, acts []string }

func (b *bus) Fire(_ context.Context, tag string, data *payload.Map) error {
	b.tags = append(b.tags, tag)
	b.acts = append(b.acts, data.Str("act")+" "+data.Str("id"))
	return errors.New("nobody listens") // which changes nothing
}

type presence map[string]string

func (p presence) Connected() (map[string]string, error) { return p, nil }

type rig struct {
	env *loader.Env
	bus *bus
	dir string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{bus: &bus{}, dir: t.TempDir()}
	for name, text := range map[string]string{"minions/web1": pem, "minions/web2": pem, "minions_pre/new": pem,
		"minions_rejected/bad": pem, "minions_denied/evil": pem, "master.pub": pem} {
		path := filepath.Join(r.dir, "pki", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manager := keys.NewManager(keys.NewStore(keys.Options{Dir: filepath.Join(r.dir, "pki")}), keys.ManagerOptions{
		CacheDir: r.dir, MasterID: "m_master",
		Generate: func(int) (string, string, error) { return "PRIVATE", pem, nil }})
	reg := loader.NewRegistry()
	reg.Offer(all.Wheel(wheel.Options{Keys: manager, Events: r.bus,
		Presence: presence{"web2": "10.0.0.2", "web1": "10.0.0.1"}}))
	opts := payload.M("conf_file", filepath.Join(r.dir, "master"), "config_dir", r.dir, "hash_type", "md5",
		"default_include", "master.d/*.conf", "interface", "0.0.0.0")
	r.env = &loader.Env{Registry: reg, ID: "m_master", Opts: func() *payload.Map { return opts }}
	return r
}

func (r *rig) run(fun string, args []any, kw *payload.Map) *runners.Result {
	return runners.Run(context.Background(), r.env, runners.Request{Kind: runners.KindWheel, Fun: fun, Args: args,
		KW: kw, JID: "20261121105627000651", User: "root"}, nil)
}

func TestKeyFunctions(t *testing.T) {
	finger := map[bool]string{}
	finger[false], _ = keys.Fingerprint(pem, "md5")
	finger[true], _ = keys.Fingerprint(pem, "sha1")
	for _, tt := range []struct {
		fun  string
		args []any
		kw   *payload.Map
		want string // as JSON on one line
		acts []string
	}{
		{"key.list", []any{"accepted"}, nil, `{"minions": ["web1", "web2"]}`, nil},
		{"key.list", []any{"nonsense"}, nil, `{}`, nil},
		{"key.list_all", nil, nil,
			`{"minions_pre": ["new"], "minions_rejected": ["bad"], "minions": ["web1", "web2"], ` +
				`"minions_denied": ["evil"], "local": ["master.pub"]}`, nil},
		{"key.glob_match", []any{"web*,new"}, nil, `{"minions_pre": ["new"], "minions": ["web1", "web2"]}`, nil},
		{"key.name_match", []any{"zzz"}, nil, `{}`, nil},
		{"key.accept", []any{"new"}, nil, `{"minions": ["new"]}`, []string{"accepted new"}},
		{"key.accept", []any{"bad"}, nil, `{"minions_rejected": ["bad"]}`, nil},
		{"key.accept", []any{"bad"}, payload.M("include_rejected", true), `{"minions": ["bad"]}`,
			[]string{"accepted bad"}},
		{"key.accept_dict", []any{payload.M("minions_pre", []any{"new"})}, nil, `{"minions": ["new"]}`,
			[]string{"accepted new"}},
		{"key.reject", []any{"*"}, payload.M("include_accepted", true),
			`{"minions_rejected": ["bad", "new", "web1", "web2"], "minions_denied": ["evil"]}`,
			[]string{"rejected new", "rejected web1", "rejected web2"}},
		{"key.reject_dict", []any{payload.M("minions_pre", []any{"new"})}, nil, `{"minions_rejected": ["new"]}`,
			[]string{"rejected new"}},
		{"key.delete", []any{"web1"}, nil, `{}`, []string{"delete web1"}},
		{"key.delete_dict", []any{payload.M("minions", []any{"web1", "new"})}, nil, `{"minions_pre": ["new"]}`,
			[]string{"delete web1"}},
		{"key.print", []any{"web1"}, nil, `{"minions": {"web1": ` + outputters.JSON(pem) + `}}`, nil},
		{"key.finger", []any{"web1"}, nil, `{"minions": {"web1": "` + finger[false] + `"}}`, nil},
		{"key.finger", []any{"master.pub", "sha1"}, nil, `{"local": {"master.pub": "` + finger[true] + `"}}`, nil},
		{"key.finger_master", nil, nil, `{"local": {"master.pub": "` + finger[false] + `"}}`, nil},
		{"key.master_key_str", nil, nil, `{"local": {"master.pub": ` + outputters.JSON(pem) + `}}`, nil},
		{"key.gen", nil, nil, `{"priv": "PRIVATE", "pub": ` + outputters.JSON(pem) + `}`, nil},
		{"key.gen_accept", []any{"web1"}, nil, `{}`, nil},
		{"key.gen_accept", []any{"fresh"}, nil, `{"priv": "PRIVATE", "pub": ` + outputters.JSON(pem) + `}`, nil},
		{"minions.connected", nil, nil, `["web1", "web2"]`, nil},
		{"error.error", nil, nil, `{}`, nil},
	} {
		t.Run(tt.fun, func(t *testing.T) {
			r := newRig(t)
			res := r.run(tt.fun, tt.args, tt.kw)
			if got := outputters.JSON(res.Return); got != tt.want || !res.Success {
				t.Errorf("got %s (success %v)\nwant %s", got, res.Success, tt.want)
			}
			if diff := cmp.Diff(tt.acts, r.bus.acts); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			for _, tag := range r.bus.tags {
				if tag != "salt/key" {
					t.Errorf("tag %s", tag)
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		fun  string
		args []any
		kw   *payload.Map
		want string
		ok   bool
	}{
		{"key.nope", nil, nil, "'key.nope' is not available.", false},
		{"key.accept", nil, nil, "Passed invalid arguments: accept() missing 1 required positional argument: 'match'",
			true},
		{"key.accept", []any{"x"}, payload.M("user", "root"), "unexpected keyword argument 'user'", true},
		{"key.accept_dict", []any{"x"}, nil, "Exception occurred in wheel key.accept_dict: Traceback", false},
		{"key.gen_keys", nil, payload.M("keydir", "/proc/nowhere"), "Exception occurred in wheel key.gen_keys", false},
		{"error.error", []any{"ValueError", "boom"}, nil, "ValueError: boom", false},
		{"key.gen_signature", []any{"", "", ""}, nil, "cannot make keys", false},
	} {
		r := newRig(t)
		res := r.run(tt.fun, tt.args, tt.kw)
		text, _ := res.Return.(string)
		if !strings.Contains(text, tt.want) || res.Success != tt.ok {
			t.Errorf("%s: %q, success %v", tt.fun, text, res.Success)
		}
		if !tt.ok && res.Retcode != 1 {
			t.Errorf("%s: retcode %d", tt.fun, res.Retcode)
		}
	}
	bare := loader.NewRegistry()
	bare.Offer(all.Wheel(wheel.Options{}))
	for _, fun := range []string{"key.list_all", "minions.connected"} {
		res := runners.Run(context.Background(), &loader.Env{Registry: bare},
			runners.Request{Kind: runners.KindWheel, Fun: fun}, nil)
		if text, _ := res.Return.(string); !strings.Contains(text, "this process has no") {
			t.Errorf("%s without a master: %v", fun, res.Return)
		}
	}
}

// TestFieldsOfALoad calls functions with the fields of a request, as salt-api does. The texts are those of Salt 3006
// and 3007; 3008.3 dies of telling them.
func TestFieldsOfALoad(t *testing.T) {
	for _, tt := range []struct {
		fun  string
		args []any
		kw   *payload.Map
		want string // the end of the return; "" is a call that goes well
	}{
		{"key.finger", nil, payload.M("match", "web1"), ""},
		{"key.finger", []any{"web1"}, nil, ""},
		{"key.finger", nil, nil, "SaltInvocationError: finger takes at least 1 argument (0 given)\n"},
		{"key.gen_signature", nil, payload.M("priv", ""),
			"SaltInvocationError: gen_signature takes at least 3 arguments (1 given)\n"},
		{"key.list_all", nil, payload.M("nosuch", 1),
			"'nosuch' is an invalid keyword argument for 'salt.loaded.int.wheel.key.list_all'\n"},
		{"key.list_all", nil, payload.M("a", 1, "b", 2, "c", 3),
			"'a', 'b' and 'c' are invalid keyword arguments for 'salt.loaded.int.wheel.key.list_all'\n"},
	} {
		r := newRig(t)
		res := runners.Run(t.Context(), r.env,
			runners.Request{Kind: runners.KindWheel, Fun: tt.fun, Args: tt.args, KW: tt.kw, Low: true}, nil)
		text, _ := res.Return.(string)
		if res.Success != (tt.want == "") || !strings.HasSuffix(text, tt.want) {
			t.Errorf("%s %v %v: %q, success %v, want %q", tt.fun, tt.args, tt.kw, text, res.Success, tt.want)
		}
		if tt.want != "" && !strings.HasPrefix(text, "Exception occurred in wheel "+tt.fun+": Traceback") {
			t.Errorf("%s: %q is no exception", tt.fun, text)
		}
	}
}

func TestConfigFunctions(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(r.dir, "master")
	if err := os.WriteFile(path, []byte("interface: 0.0.0.0\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if res := r.run("config.values", nil, nil); res.Return.(*payload.Map).Str("interface") != "0.0.0.0" {
		t.Errorf("values: %v", res.Return)
	}
	if res := r.run("config.apply", []any{"worker_threads", int64(7)}, nil); !res.Success || res.Return != nil {
		t.Errorf("apply: %v", res.Return)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "\nworker_threads: 7\n") ||
		!strings.Contains(string(text), "interface: 0.0.0.0\n") {
		t.Errorf("the file after apply: %q %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode after apply: %v %v", info.Mode(), err)
	}
	for _, tt := range []struct{ name, want string }{
		{"gui", "Wrote gui.conf"}, {"../evil", "Invalid path"}, {"", "Invalid path"}, {"a/b", "Invalid path"},
	} {
		res := r.run("config.update_config", []any{tt.name, payload.M("id", 1, "l", []any{"a"})}, nil)
		if res.Return != tt.want {
			t.Errorf("update_config %q: %v", tt.name, res.Return)
		}
	}
	text, err = os.ReadFile(filepath.Join(r.dir, "master.d/gui.conf"))
	if err != nil || string(text) != "id: 1\nl:\n- a\n" {
		t.Errorf("the included file: %q %v", text, err)
	}
}
