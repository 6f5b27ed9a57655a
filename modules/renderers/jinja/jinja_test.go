package jinja

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/renderers/jinja/machine"
	"brine/modules/text/dicts"
	"brine/wire/payload"
)

// recorded is one template with what Salt made of it: testdata/generate.py.
type recorded struct {
	Name, Template string
	Options        struct {
		Opts    json.RawMessage
		SLS     string
		Context json.RawMessage
	}
	Output, Error *string
}

// files is a Loader over testdata/files.
type files string

func (dir files) Load(_ context.Context, name, from string) (Source, error) {
	if first, _, _ := strings.Cut(name, "/"); first == "." || first == ".." {
		if name = path.Join(from, name); strings.HasPrefix(name, "..") {
			return Source{}, ErrNotFound
		}
	}
	text, err := os.ReadFile(filepath.Join(string(dir), filepath.Clean("/"+name)))
	if err != nil {
		return Source{}, ErrNotFound
	}
	return Source{Text: string(text), Path: "$FILES/" + name, Name: name}, nil
}

func ordered(t testing.TB, raw []byte) *payload.Map {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	v, err := readJSON(dec, 0)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	out, err := toPayload(v)
	if err != nil {
		t.Fatal(err)
	}
	return out.(*payload.Map)
}

// variables are those every recorded template was given.
func variables(t testing.TB) map[string]any {
	t.Helper()
	raw, err := os.ReadFile("testdata/vars.json")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]any{}
	for k, v := range ordered(t, raw).All() {
		vars[k.(string)] = v
	}
	dicts.OrderBelow(vars["od"].(*payload.Map).AsOrdered())
	vars["saltenv"] = "base"
	vars["tree"] = tree(t)
	vars["salt"] = Functions{
		Find:      func(name string) (Func, bool) { f, ok := testFunctions[name]; return f, ok },
		HasModule: func(name string) bool { return name == "test" },
	}
	return vars
}

var testFunctions = map[string]Func{
	"test.echo": func(_ context.Context, args []any, kwargs *payload.Map) (any, error) {
		if len(args) > 0 {
			return args[0], nil
		}
		return kwargs, nil
	},
	"test.kwargs": func(_ context.Context, _ []any, kwargs *payload.Map) (any, error) { return kwargs, nil },
	"test.fail": func(_ context.Context, args []any, _ *payload.Map) (any, error) {
		if len(args) > 0 {
			return nil, &SaltError{args[0].(string)}
		}
		return nil, &SaltError{"it failed"}
	},
}

func readRecorded(t testing.TB) []recorded {
	t.Helper()
	raw, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// optionsOf are the options of the engine for one case.
func optionsOf(t testing.TB, c recorded) Options {
	opt := Options{Loader: files("testdata/files"), YAML: testYAML{}, Host: machine.Machine{}}
	if len(c.Options.Opts) == 0 {
		return opt
	}
	o := ordered(t, c.Options.Opts)
	opt.AllowUndefined, _ = o.Value("allow_undefined").(bool)
	opt.Env = payload.NewMap(2)
	for _, name := range []string{"trim_blocks", "lstrip_blocks"} {
		if on, _ := o.Value("jinja_" + name).(bool); on {
			opt.Env.Set(name, true)
		}
	}
	env := "jinja_env"
	if c.Options.SLS != "" {
		env = "jinja_sls_env"
	}
	opt.Env.Update(o.Map(env))
	return opt
}

func render(t testing.TB, c recorded, vars map[string]any) (string, error) {
	if c.Options.SLS != "" {
		vars["sls"] = c.Options.SLS
	}
	if len(c.Options.Context) > 0 {
		for k, v := range ordered(t, c.Options.Context).All() {
			vars[k.(string)] = v
		}
	}
	tmpl, err := New(optionsOf(t, c)).Compile(c.Template)
	if err != nil {
		return "", err
	}
	out, err := tmpl.Render(t.Context(), vars)
	var je *Error
	if errors.As(err, &je) {
		je.Message = strings.ReplaceAll(je.Message, tree(t), "$FILES")
	}
	return strings.ReplaceAll(out, tree(t), "$FILES"), err
}

// tree is where the files are.
func tree(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("testdata/files")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRecorded compares every template with the answer of Salt 3008.3.
func TestRecorded(t *testing.T) {
	for _, c := range readRecorded(t) {
		t.Run(c.Name, func(t *testing.T) {
			out, err := render(t, c, variables(t))
			switch {
			case c.Error != nil && err == nil:
				t.Errorf("%q\ngot output %q\nwant error %q", c.Template, out, *c.Error)
			case c.Error != nil && err.Error() != *c.Error:
				t.Errorf("%q\ngot error  %q\nwant error %q", c.Template, err, *c.Error)
			case c.Error == nil && err != nil:
				t.Errorf("%q\ngot error %q\nwant output %q", c.Template, err, *c.Output)
			case c.Error == nil && out != *c.Output:
				t.Errorf("%q\ngot  %q\nwant %q", c.Template, out, *c.Output)
			}
			var je *Error
			if err != nil && !errors.As(err, &je) {
				t.Errorf("error of type %T", err)
			}
		})
	}
}
