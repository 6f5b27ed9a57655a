package saltrun

import (
	"context"
	"log/slog"
	"slices"

	"brine/cmd/session"
	"brine/modules/fileserver/gitfs"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// masterPillar compiles pillars in this process, with the files of the master.
type masterPillar struct {
	session  *session.Session
	on       *loader.Env
	expander *matchers.Expander
}

func (p *masterPillar) compiler() *pillar.Compiler {
	log := func(level slog.Level, text string) { p.session.Log.Log(context.Background(), level, text) }
	var trees pillar.GitTrees
	if git, err := gitfs.NewPillars(p.session.Master.Raw, log); err != nil {
		log(slog.LevelError, "ext_pillar: "+err.Error())
	} else if git != nil {
		trees = git
	}
	return pillar.New(pillar.Options{Opts: p.session.Master.Raw, Git: trees, Functions: pillar.FunctionsOf(p.on),
		Log: log,
		Means: func(ctx context.Context, target any, id string) bool {
			who, err := p.expander.Expand(ctx, target, "compound", "", true)
			return err == nil && slices.Contains(who.Minions, id)
		}})
}

// Compile compiles one pillar.
func (p *masterPillar) Compile(ctx context.Context, q pillar.Question) (*payload.Map, error) {
	return p.compiler().Compile(ctx, q)
}

// Top merges the top files.
func (p *masterPillar) Top(ctx context.Context, q pillar.Question) (*payload.Map, []any, error) {
	return p.compiler().Top(ctx, q)
}
