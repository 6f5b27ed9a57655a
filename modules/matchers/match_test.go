package matchers

import (
	"errors"
	"strings"
	"testing"

	"brine/wire/payload"
)

func TestMatchBeyondSalt(t *testing.T) {
	grains := payload.M("fqdn", "web1.example.com", "os", "Debian", "path", "a|b")
	f := &Facts{ID: "web1",
		Grains:     func() *payload.Map { return grains },
		Resources:  payload.M("ssh", []any{"r1", "r2"}, "none", []any{}),
		Nodegroups: payload.M("webs", "web*"),
		Data: func(key string) any {
			return map[string]any{"list": []any{"One", "two"}, "map": payload.M("k", 1), "text": "abc"}[key]
		},
		Range: func(expr string) ([]string, error) {
			if expr == "bad" {
				return nil, errors.New("no such cluster")
			}
			return []string{"db1.example.com", "web1.example.com"}, nil
		}}
	for _, tt := range []struct {
		tgt                any
		tgtType, delimiter string
		want, wantErr      bool
	}{
		{"web*", "", "", true, false},
		{"os|Debian", "grain", "|", true, false},
		{"os|Debian", "grain", "", false, true},
		{"nosuch", "nosuch", "", false, true},
		{"x", "compound_pillar_exact", "", false, true}, // masters only
		{"list:ONE", "data", "", true, false},
		{"list:three", "data", "", false, false},
		{"map:k", "data", "", true, false},
		{"map:v", "data", "", false, false},
		{"text:a*", "data", "", true, false},
		{"text", "data", "", false, false},
		{"none:x", "data", "", false, false},
		{"%all", "range", "", true, false},
		{"bad", "range", "", false, true},
		{"R@%all and web1", "compound", "", true, false},
		{"webs", "nodegroup", "", true, false},
		{"nosuch", "nodegroup", "", false, false},
		{"ssh", "resource", "", true, false},
		{"none", "resource", "", false, false},
		{"T@ssh:r2 and not T@ssh:r3", "compound", "", true, false},
		{"web1 and N@nosuch", "compound", "", false, true},
		{payload.M("web1", 1), "list", "", true, false},
		{int64(3), "pcre", "", false, true},
		{"(a+)+$", "pcre", "", false, false},
	} {
		got, err := Match(tt.tgt, tt.tgtType, tt.delimiter, f)
		if got != tt.want || (err != nil) != tt.wantErr {
			t.Errorf("Match(%v as %s): got %v, %v, want %v, error %v", tt.tgt, tt.tgtType, got, err, tt.want,
				tt.wantErr)
		}
	}
	if hit, err := Match("a:b", "grain", "", &Facts{ID: "web1"}); hit || err != nil {
		t.Errorf("without grains: got %v, %v", hit, err)
	}
}

func TestExprMatch(t *testing.T) {
	for _, tt := range []struct {
		word, expr string
		want       bool
	}{
		{"web1", "web1", true},
		{"web1", "web*", true},
		{"web1", "web\\d", true},
		{"web12", "web\\d", false},
		{"web1", "w(", false},
		{"w(", "w(", true},
		{"web1\n", "web\\d", false},
	} {
		if got := ExprMatch(tt.word, tt.expr); got != tt.want {
			t.Errorf("ExprMatch(%q, %q): got %v", tt.word, tt.expr, got)
		}
	}
}

func TestTraverse(t *testing.T) {
	data := payload.M("file_roots", payload.M("base", []any{"/srv/salt", payload.M("k", "v")}), "n", nil)
	for _, tt := range []struct {
		path, delimiter string
		want            any
		ok              bool
	}{
		{"file_roots:base:0", "", "/srv/salt", true},
		{"file_roots/base/k", "/", "v", true},
		{"n", "", nil, true},
		{"file_roots:dev", "", nil, false},
		{"file_roots:base:7", "", nil, false},
	} {
		if got, ok := Traverse(data, tt.path, tt.delimiter); got != tt.want || ok != tt.ok {
			t.Errorf("Traverse(%q): got %v, %v", tt.path, got, ok)
		}
	}
}

// FuzzCompound checks that minion and master agree on any target of ids alone.
func FuzzCompound(f *testing.F) {
	for _, s := range []string{"web1 and not db1", "( web1 or db1 ) and web*", "not not web1", "L@web1,db1",
		"N@g or E@d", "P\xc4", "MM@@*"} {
		f.Add(s)
	}
	groups := payload.M("g", "web1 or db1", "h", "N@g and not db1")
	x := &Expander{DataCache: true, Nodegroups: groups, Source: &fakeSource{accepted: []string{"db1", "web1"}}}
	f.Fuzz(func(t *testing.T, target string) {
		if strings.ContainsAny(target, "@(") && !strings.Contains(target, "N@") {
			target = strings.NewReplacer("R@", "", "T@", "", "S@", "", "(", "").Replace(target)
		}
		for strings.Contains(target, "M@") {
			// a glob to the master and an id to the minion, as in Salt; what goes may leave another
			target = strings.ReplaceAll(target, "M@", "")
		}
		all, err := x.Expand(t.Context(), target, "compound", "", true)
		for _, id := range x.Source.(*fakeSource).accepted {
			hit, minionErr := Match(target, "compound", "", &Facts{ID: id, Nodegroups: groups})
			listed := false
			for _, m := range all.Minions {
				listed = listed || m == id
			}
			if err == nil && minionErr == nil && hit != listed {
				t.Errorf("%q: the master lists %v: %v, the minion says %v", target, id, listed, hit)
			}
		}
	})
}

// TestMatchLooksAtOneGrain asks for the grain that a target names and for no other.
func TestMatchLooksAtOneGrain(t *testing.T) {
	grains := payload.M("fqdn", "web1.example.com", "os", "Debian", "ipv4", []any{"10.0.0.1"}, "role",
		payload.M("name", "web"))
	for _, tt := range []struct{ tgt, tgtType, asked string }{
		{"os:Debian", "grain", "os"},
		{"os:deb.*", "grain_pcre", "os"},
		{"role:name:web", "grain", "role"},
		{"10.0.0.0/8", "ipcidr", "ipv4"},
		{"web* and G@os:Debian", "compound", "os"},
	} {
		asked := ""
		hit, err := Match(tt.tgt, tt.tgtType, "", &Facts{ID: "web1",
			Grains: func() *payload.Map { t.Errorf("%s %s: all grains", tt.tgtType, tt.tgt); return grains },
			Grain:  func(name string) (any, bool) { asked += name; return grains.Get(name) }})
		if !hit || err != nil || asked != tt.asked {
			t.Errorf("%s %s: %v, %v, asked for %q", tt.tgtType, tt.tgt, hit, err, asked)
		}
	}
}
