package mine_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"brine/config/yaml"
	"brine/modules/fleet/mine"
	"brine/modules/matchers"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// answersFile holds questions, and what Salt 3008.3 answered them (testdata/ask.py).
const answersFile = "testdata/answers.json"

// questions are the mines of a master, and what is asked of them.
type questions struct {
	Mines json.RawMessage `json:"mines"`
	Asks  []question      `json:"asks"`
}

// question is one of them; MineGet is the option of the master, if it is set.
type question struct {
	MineGet json.RawMessage `json:"mine_get,omitempty"`
	Load    struct {
		ID      string          `json:"id"`
		Fun     json.RawMessage `json:"fun"`
		Tgt     json.RawMessage `json:"tgt"`
		TgtType string          `json:"tgt_type"`
	} `json:"load"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

func recorded(t *testing.T) questions {
	t.Helper()
	text, err := os.ReadFile(answersFile)
	var q questions
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// value reads JSON as the values of the wire; nothing is nil.
func value(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	if raw == nil {
		return nil
	}
	v, err := yaml.Load(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// site is a master whose minions all have grains, a pillar and a mine.
type site struct{ mines *payload.Map }

func (s site) Accepted() ([]string, error) { return s.ids(), nil }

func (s site) ids() []string {
	var ids []string
	for id := range s.mines.All() {
		ids = append(ids, id.(string))
	}
	return ids
}

func (s site) mine(id string) (*payload.Map, error) { return s.mines.Map(id), nil }

func (s site) Cached(string) ([]string, error) { return s.ids(), nil }

func (s site) Data(bank, id string) (*payload.Map, error) {
	return map[string]*payload.Map{matchers.BankGrains: payload.M("os", "Debian", "id", id),
		matchers.BankPillar: payload.M("role", "web")}[bank], nil
}

func (s site) Fields(bank, id string, _ ...any) (*payload.Map, error) { return s.Data(bank, id) }

// answer is what a Reader answers one question.
func answer(t *testing.T, s site, q question) any {
	t.Helper()
	targets := &matchers.Expander{Source: s, DataCache: true}
	opts := payload.NewMap(1)
	if q.MineGet != nil {
		opts.Set("mine_get", value(t, q.MineGet))
	}
	r := &mine.Reader{Opts: opts, Mine: s.mine, Expand: func(ctx context.Context, tgt any, tgtType string,
		greedy bool) ([]string, error) {
		found, err := targets.Expand(ctx, tgt, tgtType, "", greedy)
		return found.Minions, err
	}}
	got, err := r.Get(t.Context(), mine.Question{Asker: q.Load.ID, Tgt: value(t, q.Load.Tgt), TgtType: q.Load.TgtType,
		Fun: value(t, q.Load.Fun)})
	if err != nil {
		t.Fatal(err)
	}
	return plain(got)
}

// plain is a value with maps whose order does not count, for Salt's are sets.
func plain(v any) any {
	m, ok := v.(*payload.Map)
	if !ok {
		return v
	}
	out := map[any]any{}
	for k, v := range m.All() {
		out[k] = plain(v)
	}
	return out
}

// TestAsSalt: each recorded question is answered as Salt answered it.
func TestAsSalt(t *testing.T) {
	all := recorded(t)
	s := site{value(t, all.Mines).(*payload.Map)}
	for _, q := range all.Asks {
		if diff := cmp.Diff(plain(value(t, q.Answer)), answer(t, s, q)); diff != "" {
			t.Errorf("%s asks %s of %s, mine_get %s (-Salt +brine):\n%s", q.Load.ID, q.Load.Fun, q.Load.Tgt, q.MineGet,
				diff)
		}
	}
}

// TestBrokenEntry: an entry without data, a mine that cannot be read and a target nobody knows are passed over.
func TestBrokenEntry(t *testing.T) {
	s := site{payload.M("m1", payload.M("a", payload.M("__saltmine_acl__", 1)), "m2", payload.M("a", 1), "m3", nil)}
	q := question{}
	q.Load.ID, q.Load.Fun, q.Load.Tgt = "m2", json.RawMessage(`"a"`), json.RawMessage(`"*"`)
	if diff := cmp.Diff(map[any]any{"m2": int64(1)}, answer(t, s, q)); diff != "" {
		t.Error(diff)
	}
}

// TestEnded: a question whose asker has gone is not answered.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := site{payload.M("m1", payload.M("a", 1))}
	r := &mine.Reader{Mine: s.mine, Expand: func(context.Context, any, string, bool) ([]string, error) {
		cancel()
		return s.ids(), nil
	}}
	if got, err := r.Get(ctx, mine.Question{Asker: "m1", Tgt: "*", Fun: "a"}); err == nil {
		t.Errorf("got %v without an error", got)
	}
}
