package matchers

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python/re"

	"github.com/google/go-cmp/cmp"
)

// corpus is what Salt's own matchers answer: see testdata/generate.py.
type corpus struct {
	Grains        string   `json:"grains"`
	Pillar        string   `json:"pillar"`
	NodegroupDefs string   `json:"nodegroup_defs"`
	Subdicts      [][4]any `json:"subdicts"`
	Nodegroups    [][2]any `json:"nodegroups"`
	Minion        [][3]any `json:"minion"`
	IDs           []string `json:"ids"`
	Cached        string   `json:"cached"`
	Master        [][5]any `json:"master"`
}

func loadCorpus(t testing.TB) *corpus {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus.json")
	if err != nil {
		t.Fatal(err)
	}
	c := new(corpus)
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

func unpack(t testing.TB, text string) *payload.Map {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := payload.UnmarshalBinMap(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSubdictsAsSalt(t *testing.T) {
	c := loadCorpus(t)
	grains := unpack(t, c.Grains)
	modes := map[string]Mode{"glob": ModeGlob, "regexp": ModeRegexp, "exact": ModeExact}
	for _, row := range c.Subdicts {
		expr, delimiter, mode := row[0].(string), row[1].(string), row[2].(string)
		s, _ := CompileSubdict(expr, delimiter, modes[mode])
		if got := s.Match(grains); got != row[3] {
			t.Errorf("%q with %q as %s: got %v, Salt says %v", expr, delimiter, mode, got, row[3])
		}
	}
}

func TestNodegroupsAsSalt(t *testing.T) {
	c := loadCorpus(t)
	defs := unpack(t, c.NodegroupDefs)
	for _, row := range c.Nodegroups {
		var want []string
		for _, w := range row[1].([]any) {
			want = append(want, w.(string))
		}
		got, _ := Nodegroup(row[0].(string), defs)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("nodegroup %s (-salt +brine):\n%s", row[0], diff)
		}
	}
}

func (c *corpus) facts(t testing.TB) *Facts {
	grains, pillar := unpack(t, c.Grains), unpack(t, c.Pillar)
	return &Facts{ID: "web1", Nodegroups: unpack(t, c.NodegroupDefs),
		Grains: func() *payload.Map { return grains }, Pillar: func() *payload.Map { return pillar }}
}

// TestMinionAsSalt matches with all grains, and grain by grain.
func TestMinionAsSalt(t *testing.T) {
	c := loadCorpus(t)
	whole, parts := c.facts(t), c.facts(t)
	parts.Grain = func(name string) (any, bool) { return whole.Grains().Get(name) }
	for _, row := range c.Minion {
		kind := row[0].(string)
		for _, f := range []*Facts{whole, parts} {
			if got, err := Match(row[1], kind, "", f); got != row[2] {
				t.Errorf("%s %v: got %v, %v, Salt says %v", kind, row[1], got, err, row[2])
			}
		}
	}
}

// fakeSource is a master's knowledge in memory.
type fakeSource struct {
	accepted []string
	data     map[string]map[string]*payload.Map // bank → id → data
}

func (s *fakeSource) Accepted() ([]string, error) { return s.accepted, nil }

func (s *fakeSource) Cached(bank string) ([]string, error) {
	return slices.Sorted(maps.Keys(s.data[bank])), nil
}

func (s *fakeSource) Data(bank, id string) (*payload.Map, error) { return s.data[bank][id], nil }

// Fields returns nothing but what was asked for.
func (s *fakeSource) Fields(bank, id string, keys ...any) (*payload.Map, error) {
	all := s.data[bank][id]
	if all == nil {
		return nil, nil
	}
	out := payload.NewMap(0)
	for _, k := range keys {
		if v, ok := all.Get(k); ok {
			out.Set(k, v)
		}
	}
	return out, nil
}

func (c *corpus) source(t testing.TB) *fakeSource {
	s := &fakeSource{accepted: slices.Clone(c.IDs), data: map[string]map[string]*payload.Map{
		BankGrains: {}, BankPillar: {}}}
	slices.SortFunc(s.accepted, func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	for id, v := range unpack(t, c.Cached).All() {
		for i, bank := range []string{BankGrains, BankPillar} {
			if m, ok := v.([]any)[i].(*payload.Map); ok {
				s.data[bank][id.(string)] = m
			}
		}
	}
	return s
}

func TestMasterAsSalt(t *testing.T) {
	c := loadCorpus(t)
	x := &Expander{Source: c.source(t), Nodegroups: unpack(t, c.NodegroupDefs), DataCache: true}
	for _, row := range c.Master {
		kind, greedy := row[0].(string), row[2].(bool)
		got, err := x.Expand(t.Context(), row[1], kind, "", greedy)
		if err != nil && !errors.Is(err, ErrTarget) && !errors.Is(err, re.ErrPattern) {
			t.Errorf("%s %q: %v", kind, row[1], err)
		}
		minions := slices.Clone(got.Minions)
		if kind != "list" {
			slices.Sort(minions)
		}
		if !slices.Equal(minions, stringsOf(row[3])) || !slices.Equal(got.Missing, stringsOf(row[4])) {
			t.Errorf("%s %q greedy %v: got %q missing %q, %v, Salt says %q missing %q", kind, row[1], greedy,
				minions, got.Missing, err, row[3], row[4])
		}
	}
}

func stringsOf(v any) []string {
	var out []string
	for _, s := range v.([]any) {
		out = append(out, s.(string))
	}
	return out
}
