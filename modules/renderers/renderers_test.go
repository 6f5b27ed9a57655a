package renderers

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// row is a template of testdata/make.py and what Salt made of it.
type row struct {
	kind, pipe, text string
	missing          bool // there is no file
	result           string
	log              []string
}

func (r *row) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &[]any{&r.kind, &r.pipe, &text, &r.result, &r.log}); err != nil {
		return err
	}
	if r.missing = text == nil; !r.missing {
		r.text = *text
	}
	return nil
}

// answer is what came out, or the error in the form of make.py.
func answer(v any, err error) string {
	if err == nil {
		return wiretest.Typed(v, "int")
	}
	class := loader.ClassOf(err)
	class = class[strings.LastIndexByte(class, '.')+1:]
	if class == "RecursionError" {
		return "error " + class
	}
	return "error " + class + ": " + loader.Message(err)
}

// bigValue is an integer beyond uint64 in a map, which a payload.Map holds as text.
var bigValue = regexp.MustCompile(`([{|>])int (\d{20,})`)

func TestAsSalt(t *testing.T) {
	dir := t.TempDir()
	rows := wiretest.Recorded[row](t)
	if len(rows) < 250 {
		t.Fatalf("%d rows are too few", len(rows))
	}
	noGPG := program.Which("gpg") == ""
	for _, r := range rows {
		if noGPG && strings.Contains(r.pipe+r.text, "gpg") {
			continue
		}
		log := []string{}
		set := New(Options{GPG: GPG{KeyDir: func() string { return dir }}, Log: func(level slog.Level, text string) {
			name := map[slog.Level]string{slog.LevelWarn: "WARNING", slog.LevelError: "ERROR"}[level]
			log = append(log, name+" "+strings.ReplaceAll(text, dir, "DIR"))
		}})
		in := Input{Template: InString, Data: r.text}
		if r.kind == "file" {
			in = Input{Template: filepath.Join(dir, "t.sls")}
			_ = os.Remove(in.Template)
			if !r.missing {
				if err := os.WriteFile(in.Template, []byte(r.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.result = bigValue.ReplaceAllString(r.result, "${1}str $2")
		got := answer(set.Compile(t.Context(), r.pipe, in))
		if got != r.result || !slices.Equal(log, r.log) {
			t.Errorf("%s %q %q:\n got %s %q\nSalt %s %q", r.kind, r.pipe, r.text, got, log, r.result, r.log)
		}
	}
}

// fakeJinja puts the text into capitals: the engine is another package's.
type fakeJinja struct{}

func (fakeJinja) Render(_ context.Context, in Input) (string, error) {
	text := in.Data.(string)
	if strings.Contains(text, "{{") {
		return "", loader.Raise("salt.exceptions.SaltRenderError", "no {{")
	}
	return strings.ToUpper(text), nil
}

func TestPipes(t *testing.T) {
	set := New(Options{Jinja: fakeJinja{}, Blacklist: []string{"json"}, Disabled: []string{"gpg"}})
	for _, tt := range []struct{ pipe, text, want string }{
		{"jinja|yaml", "a: b", "{str A=>str B}"},
		{"yaml_jinja", "a: b", "{str A=>str B}"},
		{"jinja", "a: b", "str A: B"},
		{"jinja", "a: b\r\nc", "str A: B\r\nC"},
		{"jinja -s|yaml", "a: b", "{str A=>str B}"},
		{"jinja -x|yaml", "a: b", "error SaltRenderError: Unknown renderer option: -x"},
		{"jinja|yaml", "a: {{ b }}", "error SaltRenderError: no {{"},
		{"jinja|json|yaml", "a: b", "{str A=>str B}"},
		{"json", "[]", "{}"},
		{"yaml|gpg", "a: b", "{}"},
		{"py", "a", `error SaltRenderError: brine does not have the renderer "py" yet`},
		{"mako|yaml", "a", `error SaltRenderError: brine does not have the renderer "mako" yet`},
	} {
		in := Input{Template: InString, Data: tt.text}
		if got := answer(set.Compile(t.Context(), tt.pipe, in)); got != tt.want {
			t.Errorf("%s of %q: got %s, want %s", tt.pipe, tt.text, got, tt.want)
		}
	}
	if got, want := answer(New(Options{}).Compile(t.Context(), "jinja|yaml", Input{Template: InString, Data: "a: b"})),
		`error SaltRenderError: brine does not have the renderer "jinja" yet`; got != want {
		t.Errorf("without an engine: got %s, want %s", got, want)
	}
	white := New(Options{Whitelist: []string{"yaml"}})
	if got := answer(white.Compile(t.Context(), "json|yaml", Input{Template: InString,
		Data: "a: b"})); got != "{str a=>str b}" {
		t.Errorf("whitelist: got %s", got)
	}
}

func FuzzCompile(f *testing.F) {
	for _, r := range wiretest.Recorded[row](f) {
		f.Add(r.pipe, r.text)
	}
	set := New(Options{Jinja: fakeJinja{}, Blacklist: []string{"gpg"}})
	f.Fuzz(func(t *testing.T, pipe, text string) {
		v, err := set.Compile(t.Context(), pipe, Input{Template: InString, Data: text})
		if err == nil {
			if _, err := payload.Marshal(v); err != nil {
				t.Errorf("%q through %q: %v cannot be packed: %v", text, pipe, v, err)
			}
		} else if err.Error() == "" {
			t.Errorf("%q through %q: an error without words: %#v", text, pipe, err)
		}
	})
}
