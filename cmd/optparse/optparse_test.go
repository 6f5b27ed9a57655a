package optparse

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testParser is the parser with which testdata/python.json was recorded.
func testParser() *Parser {
	p := &Parser{Prog: "salt", Usage: "%prog [options] <function>", Version: "%prog 1 (x)",
		Epilog:      "more at %prog manual",
		Description: "what it does, in so many words that the line must be broken somewhere after here"}
	p.Add(
		Option{Flags: []string{"--version"}, Kind: Version, Help: "show program's version number and exit"},
		Option{Flags: []string{"-h", "--help"}, Kind: Help, Help: "show this help message and exit"},
		Option{Flags: []string{"-t", "--timeout"}, Kind: Int, Default: 5, Help: "Seconds. Default: %default."},
		Option{Flags: []string{"-s", "--static"}, Kind: Flag,
			Help: "all at once, in a text that is long enough to need a second line of help, surely"},
		Option{Flags: []string{"--state-output"}},
		Option{Flags: []string{"-v"}, Dest: "verbose", Kind: Flag},
		Option{Flags: []string{"-m", "--module-dirs"}, Kind: Append, Help: "add one"},
	)
	p.Group("Logging Options", "about logs",
		Option{Flags: []string{"-l", "--log-level"}, Kind: Choice, Choices: []string{"all", "quiet"}, Help: "level"},
		Option{Flags: []string{"--out", "--output"}, Dest: "output", Help: "outputter"})
	return p
}

type recording struct {
	Help  string
	Cases []struct {
		Argv, Args []string
		Values     map[string]any
		Error      string
	}
}

func load(t *testing.T) recording {
	t.Helper()
	raw, err := os.ReadFile("testdata/python.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPython compares the parser with Python's optparse for the same declarations and command lines.
func TestPython(t *testing.T) {
	for _, c := range load(t).Cases {
		v, err := testParser().Parse(c.Argv)
		if c.Error != "" {
			var usage *UsageError
			if !errors.As(err, &usage) || usage.Text != c.Error {
				t.Errorf("%q: error %v, want %s", c.Argv, err, c.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.Argv, err)
			continue
		}
		got := map[string]any{}
		for dest := range v.given {
			got[dest] = v.value[dest]
		}
		if a, b := asJSON(t, got), asJSON(t, c.Values); a != b && len(got)+len(c.Values) > 0 {
			t.Errorf("%q: values %s, want %s", c.Argv, a, b)
		}
		if diff := cmp.Diff(c.Args, v.Args); diff != "" && len(c.Args)+len(v.Args) > 0 {
			t.Errorf("%q: words (-want +got):\n%s", c.Argv, diff)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	_, err := testParser().Parse([]string{"-t", "3", "-h", "--nope"})
	var done *Answered
	if !errors.As(err, &done) {
		t.Fatalf("-h: %v", err)
	}
	want := strings.ReplaceAll(load(t).Help, "  -v                    \n", "  -v\n") // Python leaves blanks there
	want = strings.ReplaceAll(want, "%prog", "salt")                                 // Salt's parser does that itself
	if diff := cmp.Diff(want, done.Text); diff != "" {
		t.Errorf("help (-python +got):\n%s", diff)
	}
}

func TestVersion(t *testing.T) {
	_, err := testParser().Parse([]string{"--vers"})
	var done *Answered
	if !errors.As(err, &done) || done.Text != "salt 1 (x)\n" {
		t.Errorf("--vers: %#v", err)
	}
}

func TestReport(t *testing.T) {
	_, err := testParser().Parse([]string{"--nope"})
	var usage *UsageError
	if !errors.As(err, &usage) {
		t.Fatal(err)
	}
	if got, want := usage.Report(),
		"Usage: salt [options] <function>\n\nsalt: error: no such option: --nope\n"; got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}

func TestParseMoreKeepsWhatItDoesNotName(t *testing.T) {
	p := testParser()
	v, err := p.Parse([]string{"--out=json", "-m", "a", "-t", "9", "one"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ParseMore(v, []string{"two", "-t", "2", "-m", "b", "three four"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two", "three four"}, v.Args); diff != "" {
		t.Error(diff)
	}
	if v.Str("output") != "json" || v.Int("timeout") != 2 || !v.Given("output") || v.Given("verbose") {
		t.Errorf("values %v", v.value)
	}
	if diff := cmp.Diff([]string{"b"}, v.Strs("module_dirs")); diff != "" {
		t.Error(diff)
	}
}

func TestDeclaredTwice(t *testing.T) {
	p := testParser()
	p.Add(Option{Flags: []string{"-t"}, Dest: "other"})
	if _, err := p.Parse(nil); err == nil {
		t.Error("an option that is declared twice was not noticed")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"-vst4 x", "--out=json -- -x", "--s", "-t\x000x1_1", "-m\x00a -mb", "-\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.FieldsFunc(line, func(r rune) bool { return r == 0 || r == ' ' })
		v, err := testParser().Parse(argv)
		var usage *UsageError
		var done *Answered
		if err != nil && !errors.As(err, &usage) && !errors.As(err, &done) {
			t.Errorf("%q: %v", argv, err)
		}
		if err == nil && len(v.Args) > len(argv) {
			t.Errorf("%q: more words than given: %q", argv, v.Args)
		}
	})
}
