package gitfs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// recorded is a case of testdata/cases.json: options, and what Salt serves with them.
type recorded struct {
	Name string          `json:"name"`
	Opts json.RawMessage `json:"opts"`
	Want struct {
		Envs []string          `json:"envs"`
		Of   map[string]answer `json:"of"`
	} `json:"want"`
}

// answer is what there is of one environment. Found has, by path: the path below the root, the mode, the SHA-256.
type answer struct {
	Files []string          `json:"files"`
	Dirs  []string          `json:"dirs"`
	Links map[string]string `json:"links"`
	Found map[string][]any  `json:"found"`
}

// optionsOf reads options written as JSON, which is YAML, too.
func optionsOf(t *testing.T, raw string) *payload.Map {
	t.Helper()
	repos, err := filepath.Abs("testdata/repos")
	if err != nil {
		t.Fatal(err)
	}
	v, err := saltyaml.Load(strings.ReplaceAll(raw, "@REPOS@", repos))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*payload.Map).Set("cachedir", t.TempDir())
}

// TestSalt asks for what real Salt was asked for (testdata/cases.py).
func TestSalt(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			b, err := New(optionsOf(t, string(c.Opts)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Want.Envs, b.Envs()); diff != "" {
				t.Errorf("environments: %s", diff)
			}
			for env, want := range c.Want.Of {
				if diff := cmp.Diff(want, b.answer(t, env, want)); diff != "" {
					t.Errorf("environment %s: %s", env, diff)
				}
			}
		})
	}
}

func (b *Backend) answer(t *testing.T, env string, want answer) answer {
	t.Helper()
	l, err := b.Lists(env)
	if err != nil {
		t.Error(err)
	}
	got := answer{l.Files, l.Dirs, l.Links, map[string][]any{}}
	ask := slices.Concat(l.Files, []string{"top.sls", "web/init.sls", "nothing", "sub", "link/x", "dirlink/init.sls",
		"a/b/top.sls", "m/deep/er/a.txt", "init.sls"})
	for path := range want.Found {
		ask = append(ask, path)
	}
	for _, path := range ask {
		f, ok := b.Find(env, path, nil)
		if !ok {
			continue
		}
		file, err := b.Open(env, f)
		if err != nil {
			t.Error(err)
			continue
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			t.Error(err)
		}
		file.Close()
		got.Found[path] = []any{f.Rel, float64(f.Stat[0]), hex.EncodeToString(sum.Sum(nil))}
	}
	return got
}
