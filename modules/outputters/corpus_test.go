package outputters

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// corpus is what Salt's own outputters print: see testdata/generate.py.
type corpus struct {
	Values map[string]string   `json:"values"`
	Cases  map[string][][4]any `json:"cases"`
}

func loadCorpus(t testing.TB, file string) corpus {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var c corpus
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c corpus) value(t testing.TB, name string) any {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(c.Values[name])
	if err != nil {
		t.Fatal(err)
	}
	v, err := payload.UnmarshalBin(packed)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func corpusOptions(opts map[string]any, retcode float64) Options {
	m := payload.NewMap(0)
	for k, v := range opts {
		m.Set(k, fromJSON(v))
	}
	o := FromOpts(m)
	o.Color = m.Bool("color")
	o.Retcode = int(retcode)
	return o
}

// fromJSON turns what encoding/json reads into payload values; numbers of options are whole.
func fromJSON(v any) any {
	switch x := v.(type) {
	case float64:
		return int64(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = fromJSON(x[i])
		}
		return out
	case map[string]any:
		m := payload.NewMap(len(x))
		for k, e := range x {
			m.Set(k, fromJSON(e))
		}
		return m
	}
	return v
}

func TestSaltCorpus(t *testing.T) { compareCorpus(t, "corpus.json") }

func TestSaltStates(t *testing.T) { compareCorpus(t, "states.json") }

func compareCorpus(t *testing.T, file string) {
	t.Helper()
	c := loadCorpus(t, file)
	names := make([]string, 0, len(c.Cases))
	for name := range c.Cases {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := c.value(t, name)
		for _, row := range c.Cases[name] {
			out := row[0].(string)
			opts := row[1].(map[string]any)
			want, _ := row[3].(string)
			got, err := Format(out, v, corpusOptions(opts, row[2].(float64)))
			if err != nil {
				t.Errorf("%s as %s: %v", name, out, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s as %s %s (-salt +brine):\n%s", name, out, fmt.Sprint(opts), diff)
			}
		}
	}
}
