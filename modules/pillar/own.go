package pillar

import (
	"context"
	"log/slog"

	"brine/modules/host/memory"
	"brine/modules/loader"
	"brine/modules/renderers/jinja"
	"brine/wire/payload"
)

// Own compiles the pillar of a minion that serves itself (file_client: local): the minion's own options say of pillars
// what those of a master do. It is safe for concurrent use. Source: salt/pillar/__init__.py, get_pillar.
type Own struct {
	compiler *Compiler
	on       *loader.Env
}

// NewOwn returns the compiler for the minion of an environment.
func NewOwn(on *loader.Env) *Own {
	log := func(level slog.Level, text string) {
		if on.Host.Log != nil {
			on.Host.Log.Log(level, text)
		}
	}
	return &Own{on: on, compiler: New(Options{Opts: on.Opts(), Functions: FunctionsOf(on), Log: log,
		Limits: jinja.Limits{Memory: memory.ForTemplate()}})}
}

// Compile compiles the pillar with the grains of now. With Onto, templates see the pillar that the minion has until the
// new one is there, and keys that only the old one has stay, as with Salt. The errors are those of Compiler.Compile.
func (o *Own) Compile(ctx context.Context, q loader.PillarQuery) (*payload.Map, error) {
	env := func(name string) any {
		if name == "" {
			return nil
		}
		return name
	}
	question := Question{ID: o.on.ID, Grains: o.on.Grains(), Saltenv: env(q.Saltenv), Pillarenv: env(q.Pillarenv),
		Override: q.Override, Ext: q.Ext}
	if q.Onto && o.on.Pillar != nil {
		question.Known = o.on.Pillar()
	}
	return o.compiler.Compile(ctx, question)
}
