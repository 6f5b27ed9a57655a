// Package pillars compiles the pillars of minions: Pillars asks, the actor Pillar compiles each question once, and the
// actor GitPillar fetches repositories. It owns the compiler and the questions that wait. It asks package targets whom
// a top file means, and package machine for functions of templates.
package pillars

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"brine/actors/master/machine"
	"brine/actors/master/targets"
	"brine/modules/fileserver/gitfs"
	limits "brine/modules/host/memory"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/renderers/jinja"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/python"
)

// Pillars is the pillars of minions: how they are asked for. Any number of goroutines may use it.
type Pillars struct {
	Compiler *pillar.Compiler
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

// New reads the options of pillars once. on has the functions that templates call.
func New(opts *payload.Map, on *loader.Env, who *targets.Targets, within time.Duration,
	log *slog.Logger) (*Pillars,
	error) {
	p := &Pillars{within: within, ref: supervisor.NewRef(), log: log}
	var trees pillar.GitTrees
	git, err := gitfs.NewPillars(opts, machine.Logger{Logger: log}.Log)
	switch {
	case err != nil && (!opts.Has("git_pillar_verify_config") || python.Truth(opts.Value("git_pillar_verify_config"))):
		return nil, fmt.Errorf("ext_pillar: %w", err)
	case err != nil:
		log.Error("git external pillars are not there: pillars will say so", "err", err)
	case git != nil:
		p.git, trees = git, git
	}
	most := int(min(limits.ForGo()/pillarShare, pillarMost))
	p.Compiler = pillar.New(pillar.Options{Opts: opts, Git: trees, Functions: pillar.FunctionsOf(on),
		Limits: jinja.Limits{Memory: most}, Log: machine.Logger{Logger: log}.Log,
		Means: func(ctx context.Context, target any, id string) bool {
			found, err := who.Expand(ctx, target, "compound", targets.DefaultDelimiter)
			return err == nil && slices.Contains(found.Minions, id)
		}})
	return p, nil
}

// Child is the Pillar as a child of the master.
func (p *Pillars) Child() supervisor.Spec {
	opt := pillarOptions{compile: p.Compiler.Compile, most: max(2, runtime.GOMAXPROCS(0)), within: p.within}
	return supervisor.Spec{Name: "Pillar", Ref: p.ref, New: pillarOf(opt, newPillarWork())}
}

// GitChild is the GitPillar as a child of the master; the zero Spec without repositories.
func (p *Pillars) GitChild() supervisor.Spec {
	if p.git == nil {
		return supervisor.Spec{}
	}
	opt := gitPillarOptions{update: p.git.Update, every: p.git.Interval(), log: p.log}
	return supervisor.Spec{Name: "GitPillar", New: func() supervisor.Actor { return &gitPillar{opt: opt} }}
}

// Compile is ask for somebody who is no minion.
func (p *Pillars) Compile(ctx context.Context, q pillar.Question) (*payload.Map, error) {
	return p.Ask(ctx, "runner "+q.ID, q)
}

// Ask asks the Pillar. Once more, when it dies of another question just now.
func (p *Pillars) Ask(ctx context.Context, line string, q pillar.Question) (*payload.Map, error) {
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
