package dnsutil_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules"
	"brine/modules/execution/dnsutil"
	"brine/modules/host/program"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/text/args"
	"brine/modules/text/shlex"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// answer is what a call came to, as testdata/record.py writes it.
type answer struct {
	Return  any      `json:"return,omitempty"`
	Retcode int      `json:"retcode"`
	Class   string   `json:"class,omitempty"`
	Error   string   `json:"error,omitempty"`
	Asked   []string `json:"asked"`
}

// TestRecorded runs testdata/calls.txt and compares with what Salt 3008.3 answered, and what it asked dig.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/answers_3008.json")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]answer{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile("testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		if line = strings.TrimSpace(line); line[0] == '#' {
			continue
		}
		t.Run(line, func(t *testing.T) {
			w, ok := want[line]
			if !ok {
				t.Fatal("no answer: record them again")
			}
			words, err := shlex.Split(line)
			if err != nil {
				t.Fatal(err)
			}
			asked := prepare(t, words[0] == "dig")
			got := run(t, words[1], words[2:])
			lines, err := os.ReadFile(asked)
			if err != nil {
				t.Fatal(err)
			}
			got.Asked = strings.FieldsFunc(string(lines), func(r rune) bool { return r == '\n' })
			if diff := cmp.Diff(plain(t, w), plain(t, got)); diff != "" {
				t.Errorf("Salt -, brine +\n%s", diff)
			}
		})
	}
}

// prepare puts the dig of testdata/fake before other programs, or skips the test where there is another one. It gives the
// file in which that dig notes what it is asked.
func prepare(t *testing.T, dig bool) (asked string) {
	t.Helper()
	if dig {
		fake, err := filepath.Abs("testdata/fake")
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", fake+":"+os.Getenv("PATH"))
	} else if program.Which("dig") != "" {
		t.Skip("there is a dig on this host")
	}
	asked = filepath.Join(t.TempDir(), "asked")
	if err := os.WriteFile(asked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BRINE_T_ASKED", asked)
	return asked
}

// run calls a function as salt-call does.
func run(t *testing.T, fun string, words []string) answer {
	t.Helper()
	env := modtest.Env(t, nil, dnsutil.Functions())
	f, ok := env.Registry.Lookup(fun)
	if !ok {
		t.Fatalf("no function %s", fun)
	}
	c := modules.NewCall(t.Context(), env, fun, nil)
	var v any
	list, kw, err := modules.LoadArgs(f, args.Parse(words, nil), payload.M("fun", fun))
	if err == nil {
		var bound modules.Args
		if bound, err = modules.Bind(f, list, kw); err == nil {
			v, err = f.Run(c, bound)
		}
	}
	if err != nil {
		class := modules.ClassOf(err)
		return answer{Class: class[strings.LastIndexByte(class, '.')+1:], Error: modules.Message(err)}
	}
	return answer{Return: json.RawMessage(outputters.JSON(v)), Retcode: c.Retcode()}
}

// plain is an answer as JSON has it.
func plain(t *testing.T, a answer) any {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
