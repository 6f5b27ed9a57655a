package returners

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// salt is a process of a real Salt that calls its returners (testdata/callsalt.py).
type salt struct {
	in  io.Writer
	out *bufio.Scanner
}

// releaseWithReturners is the last line of releases whose core has the returners that 3008 has as extensions.
const releaseWithReturners = "3006"

// realSalt starts one, where Salt and the libraries of its returners are installed (.ci/salt-peers, .ci/store-peers).
func realSalt(t *testing.T) *salt {
	t.Helper()
	python := modtest.SaltProgram(t, releaseWithReturners, "python")
	libraries := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(python)))), "returners",
		releaseWithReturners)
	if _, err := os.Stat(filepath.Join(libraries, ".complete")); err != nil {
		t.Skip("no libraries for Salt's returners here (.ci/store-peers): ", err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/callsalt.py", libraries, t.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	s := &salt{in: in, out: bufio.NewScanner(out)}
	s.out.Buffer(nil, 64<<20)
	return s
}

// call calls a function of a returner; the answer is the value, or its error.
func (s *salt) call(t *testing.T, opts *payload.Map, fun string, args ...any) (any, string) {
	t.Helper()
	line := outputters.JSON(payload.M("opts", opts, "fun", fun, "args", append([]any{}, args...)))
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	if !s.out.Scan() {
		t.Fatalf("Salt ended at %s: %v", line, s.out.Err())
	}
	answer := parse(t, s.out.Text()).(*payload.Map)
	return answer.Value("value"), answer.Str("error")
}

// parse reads JSON.
func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := pyjson.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// testFile reads a JSON file of testdata.
func testFile(t testing.TB, name string) any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b))
}

// record writes what was seen to a file of testdata when BRINE_RECORD is set, and gives what the file holds else.
func record(t *testing.T, name string, seen any) any {
	t.Helper()
	if os.Getenv("BRINE_RECORD") == "" {
		return testFile(t, name)
	}
	text, ok := outputters.DumpJSON(seen, outputters.JSONOptions{Indent: 1})
	if !ok {
		t.Fatal("this cannot be recorded")
	}
	if err := os.WriteFile(filepath.Join("testdata", name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return seen
}

// store calls brine's returners with options of a minion or master.
type store struct {
	t   *testing.T
	env *loader.Env
	reg *loader.Registry
}

func brine(t *testing.T, opts *payload.Map) *store {
	return &store{t, withConfig(t, opts), registry(t, Options{})}
}

func (s *store) try(fun string, args ...any) (any, error) {
	f, ok := s.reg.Lookup(fun)
	if !ok {
		s.t.Fatalf("there is no %s", fun)
	}
	bound, err := loader.Bind(f, args, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return f.Run(call(s.t, s.env), bound)
}

func (s *store) call(fun string, args ...any) any {
	s.t.Helper()
	v, err := s.try(fun, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", fun, err)
	}
	return v
}

// sorted is a value with its maps sorted by key, so that maps without an order compare.
func sorted(t testing.TB, v any) string {
	t.Helper()
	var plain any
	text, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: 1, Sort: true})
	if !ok {
		t.Fatalf("%v has no form in JSON", v)
	}
	if json.Unmarshal([]byte(text), &plain) != nil {
		return text // NaN
	}
	return text
}
