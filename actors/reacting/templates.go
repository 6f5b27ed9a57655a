package reacting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"strings"

	"brine/modules/loader"
	"brine/modules/reactor"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/modules/renderers/jinja/machine"
	"brine/wire/payload"
	"brine/wire/python"
)

// Templates are what the templates of reactions see of their daemon.
type Templates struct {
	Opts      *payload.Map // all of the configuration
	Grains    func() *payload.Map
	Pillar    func() *payload.Map // nil: there is none
	Registry  *loader.Registry
	Functions reactor.Functions // that reactions may name
	// Call calls an execution function on this machine.
	Call func(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error)
	// Files finds a file of the file server, by its path there.
	Files func(ctx context.Context, name string) (path string, ok bool)
}

// Bounds of a template of a reaction: it stands between an event and what is to be done about it.
var limits = jinja.Limits{Steps: 5_000_000, Memory: 128 << 20, Output: 16 << 20}

// Engine works out what events mean. With dry, templates call no functions.
func (t Templates) Engine(dry bool, log func(level slog.Level, text string, err error)) *reactor.Reactor {
	opts := t.Opts
	templates := renderers.Jinja{Opts: opts, Whole: true, Grains: t.Grains, Pillar: t.Pillar, Sources: served{t.Files},
		Limits: limits, Has: t.has,
		Call: func(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error) {
			if dry {
				return nil, loader.ExecErr("%s is not called: nothing is run", fun)
			}
			return t.Call(ctx, fun, pos, kw)
		}}
	if !dry {
		templates.Host = machine.Machine{Opts: opts}
	}
	must, ok := opts.Get("gpg_decrypt_must_succeed")
	set := renderers.New(renderers.Options{Jinja: templates,
		GPG: renderers.GPG{KeyDir: func() string {
			return renderers.KeyDirOf(opts)
		}, MustSucceed: !ok || python.Truth(must)},
		Blacklist: loader.StringList(opts.Value("renderer_blacklist")),
		Whitelist: loader.StringList(opts.Value("renderer_whitelist")),
		Disabled:  loader.StringList(opts.Value("disable_renders")), Log: func(level slog.Level, text string) {
			log(level, text, nil)
		}})
	return reactor.New(reactor.Options{Renderers: set, Pipe: python.Str(opts.Value("renderer")), Files: served{t.Files},
		Functions: t.Functions, Log: log})
}

// has tells whether there is a function, or with a name without a dot, a module.
func (t Templates) has(name string) bool {
	if strings.Contains(name, ".") {
		_, ok := t.Registry.Lookup(name)
		return ok
	}
	return t.Registry.HasModule(name)
}

// served are the files of the file server for reactions and their templates.
type served struct {
	find func(ctx context.Context, name string) (path string, ok bool)
}

// maxTemplate is the size of the largest template that another one may import, in bytes.
const maxTemplate = 16 << 20

// Path finds the file of a URL.
func (s served) Path(ctx context.Context, url string) (string, bool) {
	return s.find(ctx, strings.TrimPrefix(url, "salt://"))
}

// Load reads a template that another one imports.
func (s served) Load(ctx context.Context, name, from string) (jinja.Source, error) {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(from, name)
	}
	name = strings.TrimPrefix(name, "salt://")
	at, ok := s.find(ctx, name)
	if !ok {
		return jinja.Source{}, jinja.ErrNotFound
	}
	file, err := os.Open(at)
	if err != nil {
		return jinja.Source{}, fmt.Errorf("import %s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxTemplate))
	if err = errors.Join(err, file.Close()); err != nil {
		return jinja.Source{}, fmt.Errorf("import %s: %w", name, err)
	}
	return jinja.Source{Text: string(text), Path: at, Name: name}, nil
}
