package slsutil

import (
	"context"
	"os"
	"path"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/host/memory"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/modules/renderers/jinja/machine"
	"brine/wire/payload"
)

// Templates is the engine for the templates of one call: they find its functions, grains, pillar and options.
func Templates(c *loader.Call) renderers.Templater {
	return renderers.Jinja{
		Opts: loader.WithResources(c.Opts()), Whole: true, Grains: c.Grains, Pillar: c.Pillar,
		Sources: fileSources{c, "base"}, Limits: jinja.Limits{Memory: memory.ForTemplate()},
		Host: machine.Machine{Opts: c.Opts()},
		Call: func(ctx context.Context, fun string, args []any, kw *payload.Map) (any, error) {
			inner := *c
			inner.Ctx = ctx
			return inner.Call(fun, args, kw)
		},
		Has: func(name string) bool {
			if !strings.Contains(name, ".") {
				return c.Registry().HasModule(name)
			}
			_, ok := c.Registry().Lookup(name)
			return ok
		},
	}
}

// fileSources are the templates of the file server. One that a template names by ./ or ../ lies beside it.
type fileSources struct {
	call *loader.Call
	env  string
}

// In is the same for another environment.
func (s fileSources) In(env string) jinja.Loader { return fileSources{s.call, env} }

// Load fetches a template into the cache and reads it there.
func (s fileSources) Load(ctx context.Context, name, from string) (jinja.Source, error) {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(from, name)
	}
	client, err := fileclient.For(s.call)
	if err != nil {
		return jinja.Source{}, err
	}
	file, found, err := client.GetFile(ctx, "salt://"+name, fileclient.Want{Env: s.env})
	if err != nil {
		return jinja.Source{}, err
	}
	if !found {
		return jinja.Source{}, jinja.ErrNotFound
	}
	text, err := os.ReadFile(file)
	return jinja.Source{Text: string(text), Path: file, Name: name}, err
}
