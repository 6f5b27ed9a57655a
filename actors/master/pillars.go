package master

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"brine/modules/fileserver/gitfs"
	limits "brine/modules/host/memory"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/renderers/jinja"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/python"
)

// pillars is the pillars of minions: how they are asked for. Any number of goroutines may use it.
type pillars struct {
	compiler *pillar.Compiler
	git      *gitfs.Pillars // nil: no external pillar git
	log      *slog.Logger
	within   time.Duration   // so long may one take
	ref      *supervisor.Ref // the Pillar
}

// pillarShare is the share of what Go may have in memory, one in so many, that the values of one template may take.
const pillarShare = 8

// pillarMost is what they may take at most, in bytes of all values that a template makes. Templates of pillars make a
// few million; as many compile at once as the slow lane has workers.
const pillarMost = 128 << 20

// newPillars reads the options of pillars once. on has the functions that templates call.
func newPillars(opts *payload.Map, on *loader.Env, targets *targets, within time.Duration, log *slog.Logger) (*pillars,
	error) {
	p := &pillars{within: within, log: log}
	var trees pillar.GitTrees
	git, err := gitfs.NewPillars(opts, logger{log}.Log)
	switch {
	case err != nil && (!opts.Has("git_pillar_verify_config") || python.Truth(opts.Value("git_pillar_verify_config"))):
		return nil, fmt.Errorf("ext_pillar: %w", err)
	case err != nil:
		log.Error("git external pillars are not there: pillars will say so", "err", err)
	case git != nil:
		p.git, trees = git, git
	}
	most := int(min(limits.ForGo()/pillarShare, pillarMost))
	p.compiler = pillar.New(pillar.Options{Opts: opts, Git: trees, Functions: pillar.FunctionsOf(on),
		Limits: jinja.Limits{Memory: most}, Log: logger{log}.Log,
		Means: func(ctx context.Context, target any, id string) bool {
			who, err := targets.expand(ctx, target, "compound", defaultDelimiter)
			return err == nil && slices.Contains(who.Minions, id)
		}})
	return p, nil
}

// gitChild is the GitPillar as a child of the master; none without repositories.
func (p *pillars) gitChild() child {
	if p.git == nil {
		return child{}
	}
	opt := gitPillarOptions{update: p.git.Update, every: p.git.Interval(), log: p.log}
	return child{nil, supervisor.Spec{Name: "GitPillar", New: func() supervisor.Actor { return &gitPillar{opt: opt} }}}
}

// options are those of the Pillar.
func (p *pillars) options() pillarOptions {
	return pillarOptions{compile: p.compiler.Compile, most: max(2, runtime.GOMAXPROCS(0)), within: p.within}
}

// Compile is ask for somebody who is no minion.
func (p *pillars) Compile(ctx context.Context, q pillar.Question) (*payload.Map, error) {
	return p.ask(ctx, "runner "+q.ID, q)
}

// ask asks the Pillar. Once more, when it dies of another question just now.
func (p *pillars) ask(ctx context.Context, line string, q pillar.Question) (*payload.Map, error) {
	key, err := keyOf(line, q)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		a, err := supervisor.Ask(ctx, p.ref, func(reply chan<- pillarAnswer) any {
			return &CompilePillar{q, line, key, reply}
		})
		if errors.Is(err, supervisor.ErrCrashed) && try == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return a.pillar, a.err
	}
}

// keyOf is the key of a question: of all that is in it.
func keyOf(line string, q pillar.Question) (pillarKey, error) {
	packed, err := payload.Marshal([]any{line, q.ID, q.Grains, q.Saltenv, q.Pillarenv, q.Override, q.Extra, q.Ext,
		q.NoExt})
	if err != nil {
		return pillarKey{}, fmt.Errorf("pack a question for a pillar: %w", err)
	}
	return sha256.Sum256(packed), nil
}
