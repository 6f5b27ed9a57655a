package slsutil

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"

	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/wire/payload"
	"brine/wire/python"
)

// template is a file or a text to render.
type template struct {
	Path   any          `arg:"path=None"`
	String any          `arg:"string=None"`
	Pipe   string       `arg:"default_renderer=jinja|yaml"`
	KW     *payload.Map `arg:"**kwargs"`
}

// render is slsutil.renderer.
func render(c *loader.Call, a template) (any, error) {
	path, text := a.Path, a.String
	switch {
	case !python.Truth(path) && !python.Truth(text):
		return nil, loader.InvocErr("Must pass path or string.")
	case python.Truth(path) && python.Truth(text):
		return nil, loader.InvocErr("Must not pass both path and string.")
	}
	ctx, err := deeper(c.Ctx)
	if err != nil {
		return nil, err
	}
	kw := loader.CleanKWArgs(a.KW)
	in := renderers.Input{Template: renderers.InString, Data: text, Saltenv: take(kw, "saltenv"), SLS: take(kw, "sls")}
	if python.Truth(path) {
		file, err := localFile(c, python.Str(path), in.Saltenv)
		if err != nil {
			return nil, err
		}
		if file == "" {
			return payload.NewMap(0), nil
		}
		in.Template, in.Data = file, nil
	}
	in.Context, _ = kw.Value("context").(*payload.Map)
	kw.Delete("context")
	kw.Delete("env")
	in.KW = kw
	return renderersFor(c).Compile(ctx, a.Pipe, in)
}

// maxTemplates is how many templates may be in the middle of each other's rendering: one that renders itself would
// never end.
const maxTemplates = 20

type templatesKey struct{}

// deeper is the context of a template that is rendered within another, or an error in place of the one too many.
func deeper(ctx context.Context) (context.Context, error) {
	n, _ := ctx.Value(templatesKey{}).(int)
	if n >= maxTemplates {
		return nil, loader.Raise("RecursionError", "maximum recursion depth exceeded: %d templates render each other",
			n)
	}
	return context.WithValue(ctx, templatesKey{}, n+1), nil
}

// Compile renders a template for a call through a pipe of renderers.
func Compile(c *loader.Call, pipe string, in renderers.Input) (any, error) {
	ctx, err := deeper(c.Ctx)
	if err != nil {
		return nil, err
	}
	return renderersFor(c).Compile(ctx, pipe, in)
}

// take removes a text from keywords.
func take(kw *payload.Map, name string) string {
	text := kw.Str(name)
	kw.Delete(name)
	return text
}

// renderersFor are the renderers that the options of a call's minion allow.
func renderersFor(c *loader.Call) *renderers.Set {
	opts := c.Opts()
	must, ok := opts.Get("gpg_decrypt_must_succeed")
	return renderers.New(renderers.Options{
		Jinja: Templates(c),
		GPG: renderers.GPG{KeyDir: func() string { return renderers.KeyDirOf(opts) },
			MustSucceed: !ok || python.Truth(must)},
		Blacklist: loader.StringList(opts.Value("renderer_blacklist")),
		Whitelist: loader.StringList(opts.Value("renderer_whitelist")),
		Disabled:  loader.StringList(opts.Value("disable_renders")),
		Log:       func(level slog.Level, text string) { c.Log(level, text) },
	})
}

// localFile finds the file of a path or URL: one of this machine as it is, another by cp.get_url where there is one. It
// is "" when the file is not to be had.
func localFile(c *loader.Call, path, saltenv string) (string, error) {
	const getURL = "cp.get_url"
	local, isFile := strings.CutPrefix(path, "file://")
	if !isFile && strings.Contains(path, "://") {
		if _, ok := c.Registry().Lookup(getURL); !ok {
			return "", loader.ExecErr("brine cannot fetch %s yet", path)
		}
		if saltenv == "" {
			saltenv = "base"
		}
		got, err := c.Call(getURL, []any{path}, payload.M("saltenv", saltenv))
		if err != nil {
			return "", err
		}
		if _, ok := got.(string); !ok {
			c.Log(slog.LevelError, "Template was specified incorrectly: "+python.Str(got))
			return "", nil
		}
		return loader.Text(got), nil
	}
	if !filepath.IsAbs(local) {
		return "", loader.ExecErr("Path '%s' is not absolute", local)
	}
	return local, nil
}
