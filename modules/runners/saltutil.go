package runners

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules"
	"brine/modules/fileclient"
	"brine/modules/host/wholefile"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// synced are the kinds of modules that saltutil.sync_all brings, in its order: the key of its answer, the folder below
// extension_modules, and the function where its name is not that of the key.
var synced = [...]struct{ key, form, fun string }{
	{"clouds", "clouds", ""}, {"modules", "modules", ""}, {"states", "states", ""}, {"grains", "grains", ""}, {"renderers", "renderers", ""},
	{"returners", "returners", ""}, {"output", "output", ""}, {"proxymodules", "proxy", ""}, {"runners", "runners", ""}, {"wheel", "wheel", ""},
	{"engines", "engines", ""}, {"thorium", "thorium", ""}, {"queues", "queues", ""}, {"pillar", "pillar", ""}, {"utils", "utils", ""},
	{"sdb", "sdb", ""}, {"cache", "cache", ""}, {"fileserver", "fileserver", ""}, {"tops", "tops", ""}, {"tokens", "tokens", "eauth_tokens"},
	{"serializers", "serializers", ""}, {"executors", "executors", ""}, {"wrapper", "wrapper", ""}, {"roster", "roster", ""},
}

// moduleFiles are the files that count as modules.
const moduleFiles = `E@\.(pyx?|so|zip)$`

// saltutilFuncs bring modules in Python from the file server into extension_modules, for those programs of Salt on this machine
// that load them: nothing here does.
func (r *runner) saltutilFuncs() []modules.Func {
	params := []modules.Param{modules.Opt("saltenv", "base"), modules.Opt("extmod_whitelist", nil), modules.Opt("extmod_blacklist", nil)}
	funcs := []modules.Func{{Name: "saltutil.sync_all", Run: func(c *modules.Call, a modules.Args) (any, error) {
		out := payload.NewMap(len(synced))
		for _, kind := range synced {
			names, err := r.sync(c, a, kind.form)
			if err != nil {
				return nil, err
			}
			out.Set(kind.key, names)
		}
		return out, nil
	}, Doc: "Bring all kinds of modules from the file server, for Salt's own programs on this machine.\n\nCLI Example:\n\n    salt-run saltutil.sync_all"}}
	for _, kind := range synced {
		name := "saltutil.sync_" + kind.key
		if kind.fun != "" {
			name = "saltutil.sync_" + kind.fun
		}
		funcs = append(funcs, modules.Func{Name: name, Run: func(c *modules.Call, a modules.Args) (any, error) { return r.sync(c, a, kind.form) },
			Doc: "Bring modules of the kind " + kind.key + " from the file server, for Salt's own programs on this machine.\n\nCLI Example:\n\n    salt-run " + name})
	}
	for i := range funcs {
		funcs[i].Source, funcs[i].Params = "salt/runners/saltutil.py", params
	}
	return funcs
}

// sync brings one kind, and returns the names of what is new or another, each as FORM.NAME (salt/utils/extmods.py).
func (r *runner) sync(c *modules.Call, a modules.Args, form string) (any, error) {
	if r.Files == nil {
		return nil, unavailable("file server")
	}
	s := &moduleSync{form: form, dir: filepath.Join(c.Opts().Str("extension_modules"), form), kept: map[string]bool{}, changed: []any{},
		only: namesOf(a.Get("extmod_whitelist"), c.Opts().Value("extmod_whitelist"), form), not: namesOf(a.Get("extmod_blacklist"), c.Opts().Value("extmod_blacklist"), form)}
	client := fileclient.New(fileclient.Options{CacheDir: c.Opts().Str("cachedir"), HashType: c.Opts().Str("hash_type"), Log: c.Log,
		Ask: func(_ context.Context, load *payload.Map) (any, error) { return r.Files.Answer(load.Str("cmd"), load) }})
	err := os.MkdirAll(s.dir, 0o700)
	for _, env := range listOf(a.Get("saltenv")) {
		if err != nil {
			break
		}
		var files []any
		if files, err = client.CacheDir(c.Ctx, "salt://_"+form, env, false, moduleFiles, nil); err == nil {
			err = s.take(filepath.Join(c.Opts().Str("cachedir"), "files", env, "_"+form), payload.Texts(files))
		}
	}
	if err == nil && c.Opts().Value("clean_dynamic_modules") == true {
		err = s.clean()
	}
	if err != nil { // as with Salt the answer tells what was done
		c.Log(slog.LevelError, "Failed to sync "+form+" module: "+modules.Message(err))
	}
	return s.changed, nil
}

// namesOf are the names that a list of an argument, else of an option, has for a kind; nil: there is no list for it.
func namesOf(arg, option any, form string) []string {
	switch v := arg.(type) {
	case string:
		return strings.Split(v, ",")
	case *payload.Map:
		option = v
	}
	if m, ok := option.(*payload.Map); ok && m.Has(form) {
		return append([]string{}, modules.StringList(m.Value(form))...)
	}
	return nil
}

// moduleSync is the work on one folder of modules.
type moduleSync struct {
	form, dir string
	only, not []string // names of modules; nil: all, none
	kept      map[string]bool
	changed   []any
}

// take copies files that lie below a folder, as far as they are wanted and differ.
func (s *moduleSync) take(from string, files []string) error {
	for _, file := range files {
		rel, err := filepath.Rel(from, file)
		if err != nil || !filepath.IsLocal(rel) {
			return modules.ExecErr("%s is no module of %s", file, from)
		}
		name := strings.ReplaceAll(strings.TrimSuffix(rel, filepath.Ext(rel)), "/", ".")
		if s.only != nil && !slices.Contains(s.only, name) || slices.Contains(s.not, name) {
			continue
		}
		s.kept[rel] = true
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		dest := filepath.Join(s.dir, rel)
		if old, err := os.ReadFile(dest); err == nil && bytes.Equal(old, text) {
			continue
		}
		err = os.MkdirAll(filepath.Dir(dest), 0o700)
		if err == nil {
			err = wholefile.Write(dest, text, wholefile.Options{Mode: 0o600})
		}
		if err != nil {
			return err
		}
		s.changed = append(s.changed, s.form+"."+pytext.Str(name))
	}
	return nil
}

// clean removes files that the file server does not have any more, and folders in which nothing is left.
func (s *moduleSync) clean() error {
	var dirs []string
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			dirs = append(dirs, path)
			return nil
		}
		if rel, err := filepath.Rel(s.dir, path); err == nil && !s.kept[rel] && e.Type().IsRegular() {
			return os.Remove(path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		if inside, bad := os.ReadDir(dir); bad == nil && len(inside) == 0 {
			err = errors.Join(err, os.Remove(dir))
		}
	}
	return err
}
