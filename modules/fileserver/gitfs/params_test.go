package gitfs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// given is a value of a parameter, and what a remote has of it.
type given struct {
	value any
	field func(*remote) any
	want  any
}

// paramsGiven are the parameters of remotes, but for depth, which is refused.
func paramsGiven(key string) map[string]given {
	main, stands := "main", func(f func(*remote) any, want any) given { return given{want, f, want} }
	return map[string]given{
		"base":              stands(func(r *remote) any { return r.base }, "main"),
		"fallback":          stands(func(r *remote) any { return r.fallback }, "main"),
		"mountpoint":        {"salt://a/b", func(r *remote) any { return r.mountpoint }, "a/b"},
		"root":              {"a/b/", func(r *remote) any { return r.root }, "a/b"},
		"ssl_verify":        stands(func(r *remote) any { return r.auth.sslVerify }, false),
		"saltenv_whitelist": {[]any{"a", "b*"}, func(r *remote) any { return r.whitelist }, []string{"a", "b*"}},
		"saltenv_blacklist": {"a,b*", func(r *remote) any { return r.blacklist }, []string{"a", "b*"}},
		"refspecs": {[]any{"+refs/x/*:refs/y/*"}, func(r *remote) any {
			return []string{r.refspecs[0].from, r.refspecs[0].to}
		}, []string{"refs/x/*", "refs/y/*"}},
		"disable_saltenv_mapping": stands(func(r *remote) any { return r.noMapping }, true),
		"ref_types":               {[]any{"Tag"}, func(r *remote) any { return r.refTypes }, []string{"tag"}},
		"update_interval":         {int64(7), func(r *remote) any { return r.interval.String() }, "7s"},
		"proxy":                   stands(func(r *remote) any { return r.auth.proxy }, "http://127.0.0.2:3128"),
		"user":                    stands(func(r *remote) any { return r.auth.user }, "u"),
		"password":                stands(func(r *remote) any { return r.auth.password }, "p"),
		"pubkey":                  stands(func(r *remote) any { return r.auth.pubkey }, key),
		"privkey":                 stands(func(r *remote) any { return r.auth.privkey }, key),
		"passphrase":              stands(func(r *remote) any { return r.auth.passphrase }, "p"),
		"insecure_auth":           stands(func(r *remote) any { return r.auth.insecure }, true),
		"all_saltenvs":            {"main", func(r *remote) any { return r.allSaltenvs }, &main},
		"name":                    stands(func(r *remote) any { return r.name }, "n"),
		"saltenv": {[]any{payload.M("dev", []any{payload.M("ref", "main")})}, func(r *remote) any {
			ref, _ := r.ref("dev")
			return ref
		}, "main"},
		"env": stands(func(r *remote) any { return r.env }, "dev"),
	}
}

// saltParams are the tables of 3008.3 (testdata/params.py).
func saltParams(t *testing.T) (p map[string][]string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/params.json")
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// the is the one remote with an id and parameters; the parameter "" is none.
func the(role, id, param string, value any, opts *payload.Map) (*remote, error) {
	entry := any(id)
	if param != "" {
		entry = payload.M(id, []any{payload.M(param, value)})
	}
	out, err, fatal := parseRemotes(role, []any{entry}, opts)
	if err != nil || fatal != nil || len(out) != 1 {
		return nil, fmt.Errorf("%v, %v, %d remotes", err, fatal, len(out))
	}
	return out[0], nil
}

// TestEachParameter: each parameter that 3008.3 has for remotes is taken, for one and for all where Salt has it for
// all, and nothing else is: depth and names that there are not are refused by name. The fields are followed by
// TestSalt, TestSaltPillar, TestHTTP, TestProxy and TestSSH.
func TestEachParameter(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	table, salt := paramsGiven(key), saltParams(t)
	needs := payload.M("gitfs_privkey", key, "git_pillar_privkey", key) // credentials without a key are refused
	for role, id := range map[string]string{RoleFiles: "ssh://127.0.0.1/r.git",
		RolePillar: "__env__ ssh://127.0.0.1/r.git"} {
		plain, err := the(role, id, "", nil, needs)
		if err != nil {
			t.Fatal(err)
		}
		overrides := salt[role]
		for _, param := range slices.Concat(overrides, salt[role+"_only"]) {
			g, ok := table[param]
			if !ok && param != "depth" {
				t.Errorf("%s of %s: this test does not know it", param, role)
			}
			r, err := the(role, id, param, g.value, needs)
			if param == "depth" {
				if _, err = the(role, id, param, int64(1), needs); err == nil || !strings.Contains(err.Error(),
					"depth is not honoured") {
					t.Errorf("depth of %s: %v", role, err)
				}
				continue
			}
			if err != nil || !cmp.Equal(g.field(r), g.want) {
				t.Errorf("%s of %s: %v", param, role, err)
			}
			if param != "privkey" && cmp.Equal(g.field(plain), g.want) {
				t.Errorf("%s of %s: it is so without", param, role)
			}
			if slices.Contains(overrides, param) {
				if r, err = the(role, id, "", nil, needs.Clone().Set(role+"_"+param, g.value)); err != nil ||
					!cmp.Equal(g.field(r), g.want) {
					t.Errorf("%s_%s: %v", role, param, err)
				}
			}
		}
		for _, param := range slices.Concat(salt[role+"_global"], []string{"nosuch", "global_lock", "provider"}) {
			if _, err := the(role, id, param, "x", needs); err == nil || !strings.Contains(err.Error(), "'"+param+"'") {
				t.Errorf("%s of %s: %v", param, role, err)
			}
		}
		for param := range table {
			if _, err := the(role, id, param, table[param].value, needs); (err == nil) != slices.Contains(
				slices.Concat(overrides, salt[role+"_only"]), param) {
				t.Errorf("%s of %s, as Salt has it or has it not: %v", param, role, err)
			}
		}
	}
	for _, param := range salt["saltenv"] {
		r, err := the(RoleFiles, "ssh://127.0.0.1/r.git", "saltenv",
			[]any{payload.M("dev", []any{payload.M(param, "x")})}, needs)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := r.ref("dev")
		if got := map[string]string{"ref": ref, "mountpoint": r.mountOf("dev"),
			"root": r.rootOf("dev")}[param]; got != "x" {
			t.Errorf("%s of an environment: got %q", param, got)
		}
	}
}

// TestProxy fetches from a host of which only the proxy knows.
func TestProxy(t *testing.T) {
	git := webServer(t, "", "")
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "repositories.invalid" {
			asked.Add(1)
		}
		git.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	b, err := backendOf(t, "http://repositories.invalid/main.git", "proxy", proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err != nil || asked.Load() == 0 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
