package modtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/text/args"
	"brine/wire/payload"
	"brine/wire/python/shlex"
)

// recordedAnswer is what a call came to, as saltcalls.py writes it.
type recordedAnswer struct {
	Return  any      `json:"return"`
	Retcode int      `json:"retcode"`
	Class   string   `json:"class,omitempty"`
	Error   string   `json:"error,omitempty"`
	Asked   []string `json:"asked"` // what the programs of the test noted in the file BRINE_T_ASKED
}

// Recorded runs testdata/calls.txt and compares with what Salt 3008.3 answered (testdata/answers_3008.json, written by
// saltcalls.py). prepare makes the minion for a call from its first word; names are what a folder of this machine is
// called in calls and answers, by its path.
func Recorded(t *testing.T, prepare func(t *testing.T, first string) (env *loader.Env, names map[string]string)) {
	t.Helper()
	answers := map[string]recordedAnswer{}
	if err := json.Unmarshal(read(t, "testdata/answers_3008.json"), &answers); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(read(t, "testdata/calls.txt"))) {
		if line = strings.TrimSpace(line); line[0] == '#' {
			continue
		}
		t.Run(line, func(t *testing.T) {
			want, ok := answers[line]
			if !ok {
				t.Fatal("no answer: record them again")
			}
			words, err := shlex.Split(line)
			if err != nil {
				t.Fatal(err)
			}
			asked := filepath.Join(t.TempDir(), "asked")
			t.Setenv("BRINE_T_ASKED", asked)
			env, names := prepare(t, words[0])
			for path, name := range names {
				for i := range words {
					words[i] = strings.ReplaceAll(words[i], name, path)
				}
			}
			got := asRecorded(t, env, words[1], words[2:])
			if lines, err := os.ReadFile(asked); err == nil { // no file: no program was asked
				got.Asked = strings.FieldsFunc(string(lines), func(r rune) bool { return r == '\n' })
			}
			if w, g := named(t, want, nil), named(t, got, names); w != g {
				t.Errorf("got  %s\nSalt %s", g, w)
			}
		})
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// asRecorded calls a function as salt-call does.
func asRecorded(t *testing.T, env *loader.Env, fun string, words []string) recordedAnswer {
	t.Helper()
	f, ok := env.Registry.Lookup(fun)
	if !ok {
		t.Fatalf("no function %s", fun)
	}
	c := loader.NewCall(t.Context(), env, fun, nil)
	v, err := callWords(c, f, words)
	if err != nil {
		class := loader.ClassOf(err)
		class = class[strings.LastIndexByte(class, '.')+1:]
		return recordedAnswer{Class: class, Error: loader.Message(err), Asked: []string{}}
	}
	return recordedAnswer{Return: json.RawMessage(outputters.JSON(v)), Retcode: c.Retcode(), Asked: []string{}}
}

func callWords(c *loader.Call, f *loader.Func, words []string) (any, error) {
	list, kw, err := loader.LoadArgs(f, args.Parse(words, nil), payload.M("fun", f.Name))
	if err != nil {
		return nil, err
	}
	bound, err := loader.Bind(f, list, kw)
	if err != nil {
		return nil, err
	}
	return f.Run(c, bound)
}

// named is an answer as JSON in one spelling, with the names of folders in the place of their paths.
func named(t *testing.T, a recordedAnswer, names map[string]string) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for path, name := range names {
		text = strings.ReplaceAll(text, path, name)
	}
	var out any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	if b, err = json.Marshal(out); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Fakes puts the programs of testdata/fake before all others and tells their folder.
func Fakes(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("testdata/fake")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return bin
}

// StartsNothing calls a function with one argument: it has to fail before it starts a program of Fakes.
func StartsNothing(t *testing.T, env *loader.Env, fun, arg string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "asked")
	t.Setenv("BRINE_T_ASKED", file)
	v, err := loader.NewCall(t.Context(), env, fun, nil).Call(fun, []any{arg}, nil)
	if asked, _ := os.ReadFile(file); err == nil || strings.Contains(string(asked), arg) {
		t.Errorf("%s %s: %v, %v, and asked %q", fun, arg, v, err, asked)
	}
}
