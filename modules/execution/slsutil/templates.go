package slsutil

import (
	"context"
	"fmt"
	"strings"

	"brine/modules"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/wire/payload"
)

// Templates is the engine for the templates of one call: they find its functions, grains, pillar and options.
func Templates(c *modules.Call) renderers.Templater {
	return renderers.Jinja{
		Opts: c.Opts(), Grains: c.Grains, Pillar: c.Pillar, Sources: noSources{},
		Call: func(ctx context.Context, fun string, args []any, kw *payload.Map) (any, error) {
			inner := *c
			inner.Ctx = ctx
			return inner.Call(fun, args, kw)
		},
		Has: func(name string) bool {
			if !strings.Contains(name, ".") {
				for _, mod := range c.Registry().Modules() {
					if mod == name {
						return true
					}
				}
				return false
			}
			_, ok := c.Registry().Lookup(name)
			return ok
		},
	}
}

// noSources stands for the files of the master.
type noSources struct{}

func (noSources) Load(_ context.Context, name, _ string) (jinja.Source, error) {
	return jinja.Source{}, fmt.Errorf("brine cannot fetch salt://%s yet", name)
}
