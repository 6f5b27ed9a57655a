package systemdservice_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules"
	"brine/modules/execution/systemdservice"
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

// env is a minion whose module service looks at a folder of testdata, and asks the programs of testdata/fake.
func env(t *testing.T, host string) (e *modules.Env, dir string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", host))
	if err != nil {
		t.Fatal(err)
	}
	e = modtest.Env(t, nil)
	if err := e.Registry.Offer(systemdservice.Module(systemdservice.Options{Root: dir})); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BRINE_T_HOST", dir)
	return e, dir
}

// fakes puts the programs of testdata/fake before all others. They note what they are asked in a file.
func fakes(t *testing.T) (bin, asked string) {
	t.Helper()
	bin, err := filepath.Abs("testdata/fake")
	if err != nil {
		t.Fatal(err)
	}
	asked = filepath.Join(t.TempDir(), "asked")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("BRINE_T_ASKED", asked)
	return bin, asked
}

// call runs a function as salt-call does.
func call(t *testing.T, e *modules.Env, fun string, words []string) (v any, code int, err error) {
	t.Helper()
	f, ok := e.Registry.Lookup(fun)
	if !ok {
		t.Fatalf("no function %s", fun)
	}
	list, kw, err := modules.LoadArgs(f, args.Parse(words, nil), payload.M("fun", fun, "jid", "20261121000000000001"))
	if err != nil {
		return nil, 0, err
	}
	bound, err := modules.Bind(f, list, kw)
	if err != nil {
		return nil, 0, err
	}
	c := modules.NewCall(t.Context(), e, fun, nil)
	v, err = f.Run(c, bound)
	return v, c.Retcode(), err
}

// TestRecorded runs testdata/calls.txt and compares with what Salt 3008.3 answered, and what it asked systemctl.
func TestRecorded(t *testing.T) {
	bin, asked := fakes(t)
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
			e, dir := env(t, words[0])
			if err := os.WriteFile(asked, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "DIR", dir)
			}
			got := made(t, e, words[1], words[2:])
			lines, err := os.ReadFile(asked)
			if err != nil {
				t.Fatal(err)
			}
			got.Asked = strings.FieldsFunc(string(lines), func(r rune) bool { return r == '\n' })
			if diff := cmp.Diff(plain(t, w, bin, dir), plain(t, got, bin, dir)); diff != "" {
				t.Errorf("Salt -, brine +\n%s", diff)
			}
		})
	}
}

func made(t *testing.T, e *modules.Env, fun string, words []string) answer {
	t.Helper()
	v, code, err := call(t, e, fun, words)
	if err != nil {
		class := modules.ClassOf(err)
		return answer{Class: class[strings.LastIndexByte(class, '.')+1:], Error: modules.Message(err)}
	}
	return answer{Return: json.RawMessage(outputters.JSON(v)), Retcode: code}
}

// plain is an answer as JSON has it, with the names of the folders as in the record.
func plain(t *testing.T, a answer, bin, dir string) any {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(bin+"/"), []byte("FAKE/")), []byte(dir), []byte("DIR"))
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVirtual: the module loads on Linux that systemd has booted, and says else why not.
func TestVirtual(t *testing.T) {
	booted := filepath.Join("testdata", "debian12")
	for _, tt := range []struct {
		name, root, kernel string
		loads              bool
	}{
		{"booted", booted, "Linux", true},
		{"not booted", filepath.Join("testdata", "centos7"), "Linux", false},
		{"not Linux", booted, "FreeBSD", false},
		{"nothing known", booted, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := systemdservice.Module(systemdservice.Options{Root: tt.root})
			loads, why := m.Virtual(place(tt.kernel))
			if loads != tt.loads || loads != (why == "") {
				t.Errorf("got %v, %q", loads, why)
			}
		})
	}
}

// place is a host with one grain, kernel.
type place string

func (p place) Grain(name string) (any, bool) { return string(p), name == "kernel" && p != "" }
