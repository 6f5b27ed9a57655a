package matchers

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"brine/wire/payload"
	"brine/wire/python/re"
)

func smallMaster() *Expander {
	os := func(name, ip string) *payload.Map { return payload.M("os", name, "ipv4", []any{ip}) }
	return &Expander{DataCache: true, Nodegroups: payload.M("webs", "L@web1,web2"),
		Source: &fakeSource{accepted: []string{"cold", "db1", "web1", "web2"}, data: map[string]map[string]*payload.Map{
			BankGrains: {"db1": os("RedHat", "10.1.0.1"), "web1": os("Debian", "10.0.0.1"),
				"web2": os("Debian", "10.0.0.2")},
			BankPillar: {"web1": payload.M("role", "web")},
		}}}
}

func TestExpandBeyondSalt(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tgt     any
		tgtType string
		change  func(x *Expander)
		want    []string
		missing []string
		err     error
	}{
		{name: "unknown minions are left out", tgt: "os:Debian", tgtType: "grain", want: []string{"web1", "web2"}},
		{name: "unknown minions are kept on demand", tgt: "os:Debian", tgtType: "grain",
			change: func(x *Expander) { x.KeepUnknown = true }, want: []string{"cold", "web1", "web2"}},
		{name: "unknown pillar is kept on demand", tgt: "role:web", tgtType: "pillar",
			change: func(x *Expander) { x.KeepUnknown = true }, want: []string{"cold", "db1", "web1", "web2"}},
		{name: "addresses always keep unknown minions", tgt: "10.0.0.0/16", tgtType: "ipcidr",
			want: []string{"cold", "web1", "web2"}},
		{name: "a grain without a cache may be anyone's", tgt: "os:Debian", tgtType: "grain",
			change: func(x *Expander) { x.DataCache = false }, want: []string{"cold", "db1", "web1", "web2"}},
		{name: "compound without a cache may be anyone", tgt: "web1", tgtType: "compound",
			change: func(x *Expander) { x.DataCache = false }, want: []string{"cold", "db1", "web1", "web2"}},
		{name: "ranges are left to minions", tgt: "R@%cluster and web*", tgtType: "compound",
			want: []string{"web1", "web2"}},
		{name: "a range without a server", tgt: "%cluster", tgtType: "range", err: ErrTarget},
		{name: "a range with a server", tgt: "%cluster", tgtType: "range", change: func(x *Expander) {
			x.Range = func(string) ([]string, error) { return []string{"web1"}, nil }
		}, want: []string{"web1"}},
		{name: "no resources", tgt: "T@dummy or db1", tgtType: "compound", want: []string{"db1"}},
		{name: "a bad network spoils all", tgt: "not S@10.0.0.1/8", tgtType: "compound", err: ErrTarget},
		{name: "a bad pattern spoils all", tgt: "E@( or web1", tgtType: "compound", err: re.ErrPattern},
		{name: "targets in parentheses", tgt: "( web1 ) or ( L@db1,web2 )", tgtType: "compound",
			want: []string{"db1", "web1", "web2"}},
		{name: "an excluded list misses nobody", tgt: "web* and not L@gone", tgtType: "compound",
			want: []string{"web1", "web2"}},
		{name: "a list misses", tgt: "L@web1,gone", tgtType: "compound", want: []string{"web1"},
			missing: []string{"gone"}},
		{name: "unknown type", tgt: "x", tgtType: "nope", err: ErrTarget},
		{name: "no target", tgt: nil, want: nil},
		{name: "a number", tgt: int64(5), tgtType: "compound", err: ErrTarget},
		{name: "too deep", tgt: fmt.Sprint(slices.Repeat([]string{"("}, 300)), tgtType: "compound", err: ErrTarget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := smallMaster()
			if tt.change != nil {
				tt.change(x)
			}
			got, err := x.Expand(t.Context(), tt.tgt, tt.tgtType, "", true)
			if !errors.Is(err, tt.err) {
				t.Errorf("Expand: error %v, want %v", err, tt.err)
			}
			if !slices.Equal(got.Minions, tt.want) || !slices.Equal(got.Missing, tt.missing) {
				t.Errorf("Expand: got %q missing %q, want %q missing %q", got.Minions, got.Missing, tt.want, tt.missing)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		valid, tgt, tgtType string
		want                bool
	}{
		{"*", "whatever", "glob", true},
		{"@runner", "web1", "glob", false},
		{"web*", "web1", "glob", true},
		{"web*", "*", "glob", false},
		{"N@webs", "os:Debian", "grain", true},
		{"web1", "web1,gone", "list", true}, // missing ids are nobody's to protect
		{"web1", "nosuch*", "glob", true},
	} {
		got, err := smallMaster().Within(t.Context(), tt.valid, tt.tgt, tt.tgtType)
		if err != nil || got != tt.want {
			t.Errorf("Within(%q, %q as %s): got %v, %v, want %v", tt.valid, tt.tgt, tt.tgtType, got, err, tt.want)
		}
	}
}

// A source that fails must not look like a target that matches nobody.
func TestExpandReportsSourceErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	x := smallMaster()
	x.Source = brokenSource{broken}
	for _, kind := range []string{"glob", "pcre", "list", "grain", "pillar", "ipcidr", "compound", "nodegroup"} {
		tgt := map[string]string{"grain": "a:b", "pillar": "a:b", "ipcidr": "10.0.0.1", "nodegroup": "webs"}[kind]
		if _, err := x.Expand(t.Context(), tgt, kind, "", true); !errors.Is(err, broken) {
			t.Errorf("%s: got error %v, want %v", kind, err, broken)
		}
	}
}

type brokenSource struct{ err error }

func (s brokenSource) Accepted() ([]string, error)               { return nil, s.err }
func (s brokenSource) Cached(string) ([]string, error)           { return nil, s.err }
func (s brokenSource) Data(string, string) (*payload.Map, error) { return nil, s.err }

func (s brokenSource) Fields(string, string, ...any) (*payload.Map, error) { return nil, s.err }

func bigMaster(n int) *Expander {
	s := &fakeSource{data: map[string]map[string]*payload.Map{BankGrains: {}, BankPillar: {}}}
	for i := range n {
		id := fmt.Sprintf("node-%05d.example.com", i)
		s.accepted = append(s.accepted, id)
		s.data[BankGrains][id] = payload.M("os", []string{"Debian", "RedHat"}[i%2], "roles", []any{"web", "app"},
			"ipv4", []any{"127.0.0.1", fmt.Sprintf("10.%d.%d.1", i/250, i%250)},
			"nest", payload.M("a", payload.M("b", "c")))
	}
	return &Expander{Source: s, DataCache: true, Nodegroups: payload.M("half", "G@os:Debian")}
}

func BenchmarkExpand10k(b *testing.B) {
	x := bigMaster(10_000)
	for _, bb := range []struct{ name, tgtType, tgt string }{
		{"all", "glob", "*"},
		{"glob", "glob", "node-*5.example.com"},
		{"one", "glob", "node-00777.example.com"},
		{"pcre", "pcre", "node-0[0-4].*"},
		{"pcre-backtracking", "pcre", "(?!node-00).*"},
		{"list", "list", "node-00001.example.com,node-09999.example.com,gone"},
		{"grain", "grain", "os:Deb*"},
		{"grain-deep", "grain", "nest:a:b:c"},
		{"ipcidr", "ipcidr", "10.7.0.0/16"},
		{"compound", "compound", "( G@os:Debian and node-*7.example.com ) or not E@node-0.* or N@half"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Expand(b.Context(), bb.tgt, bb.tgtType, "", true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	grains := payload.M("os", "Debian", "ipv4", []any{"10.0.0.1"})
	f := &Facts{ID: "node-00001.example.com", Grains: func() *payload.Map { return grains }}
	for _, bb := range []struct{ name, tgtType, tgt string }{
		{"glob", "glob", "node-*"},
		{"grain", "grain", "os:Debian"},
		{"compound", "compound", "G@os:Debian and not db* and S@10.0.0.0/8"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if hit, err := Match(bb.tgt, bb.tgtType, "", f); !hit || err != nil {
					b.Fatal(hit, err)
				}
			}
		})
	}
}
