package fileclient

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

	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// moduleFiles are the files that count as modules.
const moduleFiles = `E@\.(pyx?|so|zip)$`

// Sync says which modules in Python come from the file server into extension_modules, for programs of Salt on this
// machine.
type Sync struct {
	Form      string   // the kind: the folder _FORM of an environment, and FORM of extension_modules
	Dir       string   // extension_modules
	Envs      []string // a later one's file takes the place of an earlier one's
	Only, Not []string // names of modules; nil: all, none
	Clean     bool     // what the file server has no more goes (clean_dynamic_modules)
}

// SyncOf is the Sync that a configuration asks for. Arguments of a call, a text with commas or a map of lists, stand in
// for its lists of names.
func SyncOf(opts *payload.Map, form string, envs []string, whitelist, blacklist any) Sync {
	return Sync{Form: form, Dir: opts.Str("extension_modules"), Envs: envs,
		Clean: opts.Value("clean_dynamic_modules") == true, Only: namesOf(whitelist, opts.Value("extmod_whitelist"),
			form), Not: namesOf(blacklist, opts.Value("extmod_blacklist"), form)}
}

// SyncModules brings one kind of modules, and returns the names of what is new or another, each as FORM.NAME. What
// fails is told in the log only, and the answer tells what was done before, as with Salt. Answers to
// salt/utils/extmods.py.
func (c *Client) SyncModules(ctx context.Context, how Sync) []any {
	s := &moduleSync{form: how.Form, dir: filepath.Join(how.Dir, how.Form), only: how.Only, not: how.Not,
		kept: map[string]bool{}, changed: []any{}}
	err := errors.New("extension_modules is not set")
	if how.Dir != "" {
		err = os.MkdirAll(s.dir, 0o700)
	}
	for _, env := range how.Envs {
		if err != nil {
			break
		}
		var files []any
		if files, err = c.CacheDir(ctx, scheme+"_"+how.Form, env, false, moduleFiles, nil); err == nil {
			err = s.take(c.cached("files", env, "_"+how.Form), payload.Texts(files))
		}
	}
	if err == nil && how.Clean {
		err = s.clean()
	}
	if err != nil {
		c.opt.Log(slog.LevelError, "Failed to sync "+how.Form+" module: "+loader.Message(err))
	}
	return s.changed
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
		return append([]string{}, loader.StringList(m.Value(form))...)
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
			return loader.ExecErr("%s is no module of %s", file, from)
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
		s.changed = append(s.changed, s.form+"."+python.Str(name))
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
