package slsutil

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/renderers"
	"brine/modules/renderers/saltyaml"
	"brine/modules/text/pyjson"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// inTree are the functions that look into the file server's tree of an environment.
func inTree() []loader.Func {
	place := []loader.Param{loader.Req("path"), loader.Opt("saltenv", "base")}
	is := func(kinds ...string) func(*loader.Call, loader.Args) (any, error) {
		return func(c *loader.Call, a loader.Args) (any, error) {
			return inLists(c, pytext.Str(a.Get("path")), pytext.Str(a.Get("saltenv")), kinds...)
		}
	}
	return []loader.Func{
		{Name: "slsutil.file_exists", Params: place, Run: is(listFiles), Doc: `Tell whether the file server has a file.

CLI Example:

    salt '*' slsutil.file_exists nginx/defaults.yaml`},
		{Name: "slsutil.dir_exists", Params: place, Run: is(listDirs), Doc: `Tell whether the file server has a directory.

CLI Example:

    salt '*' slsutil.dir_exists nginx/files`},
		{Name: "slsutil.path_exists", Params: place, Run: is(listFiles, listDirs), Doc: `Tell whether the file server has a file or a directory.

CLI Example:

    salt '*' slsutil.path_exists nginx/defaults.yaml`},
		{Name: "slsutil.findup", Params: []loader.Param{loader.Req("startpath"), loader.Req("filenames"), loader.Opt("saltenv", "base")},
			Run: findUp, Doc: `Find one of some names in a directory of the file server or the nearest one above it.

CLI Example:

    salt '*' slsutil.findup formulas/shared/nginx map.jinja`},
	}
}

// Functions that list what the file server has.
const (
	listFiles = "cp.list_master"
	listDirs  = "cp.list_master_dirs"
)

// inLists says whether one of the lists of an environment has a path.
func inLists(c *loader.Call, name, env string, kinds ...string) (bool, error) {
	for _, kind := range kinds {
		names, err := listOf(c, kind, env)
		if err != nil {
			return false, err
		}
		if _, found := names[name]; found {
			return true, nil
		}
	}
	return false, nil
}

// listOf is a list of the file server as a set. As with Salt it is asked for once in a job: a formula looks for many files.
func listOf(c *loader.Call, kind, env string) (map[string]struct{}, error) {
	key := strings.Join([]string{c.JID, kind, env}, "\n")
	if v, ok := c.Context().Get(key); ok && c.JID != "" {
		return v.(map[string]struct{}), nil
	}
	v, err := c.Call(kind, []any{env}, nil)
	if err != nil {
		return nil, err
	}
	names, size := map[string]struct{}{}, 0
	for _, name := range loader.StringList(v) {
		names[name] = struct{}{}
		size += len(name) + 32
	}
	if c.JID != "" {
		c.Context().Put(key, names, size)
	}
	return names, nil
}

// findUp is slsutil.findup.
func findUp(c *loader.Call, a loader.Args) (any, error) {
	start, env := "", pytext.Str(a.Get("saltenv"))
	if v := a.Get("startpath"); loader.Truthy(v) {
		start = path.Clean(pytext.Str(v))
		there, err := inLists(c, start, env, listFiles, listDirs)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, loader.InvocErr("Starting path not found in the state tree: %s", start)
		}
	}
	names, ok := a.Get("filenames").([]any)
	if name, isText := a.Get("filenames").(string); isText {
		names, ok = []any{name}, true
	}
	if !ok {
		return nil, loader.InvocErr("Filenames argument must be a string or list of strings")
	}
	for dir := start; ; dir = strings.TrimSuffix(dir[:strings.LastIndexByte(dir, '/')+1], "/") {
		for _, name := range names {
			full := path.Join(dir, pytext.Str(name))
			if there, err := inLists(c, full, env, listFiles, listDirs); err != nil || there {
				return full, err
			}
		}
		if dir == "" {
			return nil, loader.ExecErr("File pattern(s) not found in path ancestry")
		}
	}
}

// loaders read data out of templates and files of the tree as formulas do.
func loaders() []loader.Func {
	return []loader.Func{
		{Name: "jinja.load_map", Params: []loader.Param{loader.Req("path"), loader.Req("value")}, Run: func(c *loader.Call, a loader.Args) (any, error) {
			value := pytext.Str(a.Get("value"))
			return throughJSON(c, `{% from "`+pytext.Str(a.Get("path"))+`" import `+value+" with context %}\n{{ "+value+" | tojson }}\n")
		}, Doc: `Give a value of a template, as a formula imports it.

CLI Example:

    salt '*' jinja.load_map myformula/map.jinja myformula`},
		{Name: "jinja.import_yaml", Params: []loader.Param{loader.Req("path")}, Run: imports("yaml"), Doc: `Give what a template loads from a YAML file.

CLI Example:

    salt '*' jinja.import_yaml myformula/foo.yaml`},
		{Name: "jinja.import_json", Params: []loader.Param{loader.Req("path")}, Run: imports("json"), Doc: `Give what a template loads from a JSON file.

CLI Example:

    salt '*' jinja.import_json myformula/foo.json`},
	}
}

// imports loads a file as a template's tag import_FORMAT does.
func imports(format string) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		return throughJSON(c, "{% import_"+format+` "`+pytext.Str(a.Get("path"))+"\" as imported %}\n{{ imported | tojson }}\n")
	}
}

// throughJSON renders a template by the minion's option renderer.
func throughJSON(c *loader.Call, text string) (any, error) {
	ctx, err := deeper(c.Ctx)
	if err != nil {
		return nil, err
	}
	pipe := c.Opts().Str("renderer")
	if pipe == "" {
		pipe = "jinja|yaml"
	}
	return renderersFor(c).Compile(ctx, pipe, renderers.Input{Template: renderers.InString, Data: text})
}

// defaultsGet is defaults.get: a value of defaults.yaml or defaults.json in the folder that the first word names.
func defaultsGet(c *loader.Call, a loader.Args) (any, error) {
	formula, rest, deep := strings.Cut(a.Str("key"), ":")
	found, err := loadDefaults(c, formula)
	if err != nil || !deep || rest == "" {
		return found, err
	}
	if v, ok := matchers.Traverse(found, rest, ""); ok {
		return v, nil
	}
	return a.Get("default"), nil
}

// loadDefaults reads the first file of defaults that a formula has; nil without one.
func loadDefaults(c *loader.Call, formula string) (any, error) {
	client, err := fileclient.For(c)
	if err != nil {
		return nil, err
	}
	files, err := client.CacheFiles(c.Ctx, []string{"salt://" + formula + "/defaults.yaml", "salt://" + formula + "/defaults.json"}, "base")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, loader.Truthy)
	if i < 0 {
		return nil, nil
	}
	name := pytext.Str(files[i])
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	load := pyjson.Load
	if strings.HasSuffix(name, ".yaml") {
		load = saltyaml.Load
	}
	v, err := load(string(text))
	if err == nil && !loader.Truthy(v) {
		v = payload.NewMap(0)
	}
	return v, err
}
