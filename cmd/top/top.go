// Package top shows the actors of running daemons: on a screen that is updated continuously (Run), or as plain
// text (Tree, Once). It knows no daemon and no socket. It gets its data from a Source. The model of the screen
// is pure, so its tests press keys and read lines. It has no counterpart in Salt.
package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"brine/supervisor/stats"

	tea "charm.land/bubbletea/v2"
)

// Source delivers looks.
type Source interface {
	// Look returns the state of everything under observation.
	Look(ctx context.Context) (*Look, error)
	// Stack says what the goroutines of one actor are doing now, as text.
	Stack(ctx context.Context, path string) (string, error)
}

// Look is the state of the observed daemons at one moment. Nobody changes its trees.
type Look struct {
	At     time.Time
	Facts  []string      // about the daemon's process, for the headline
	Roots  []stats.Child // one tree for each daemon; paths begin with its name
	Silent []string      // minions that did not answer, with the reason
}

// Options configure the screen.
type Options struct {
	Title  string // the observed daemons: "master", "minion web1", "minions web*"
	Source Source
	Every  time.Duration // between two looks
	Plain  bool          // no colors
	In     io.Reader     // nil: the terminal
	Out    io.Writer
}

// These are the limits of Options.Every for the keyboard.
const (
	shortest = 200 * time.Millisecond
	longest  = time.Minute
)

// Run shows the screen until its user or ctx ends it.
func Run(ctx context.Context, opt Options) error {
	how := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(opt.Out)}
	if opt.In != nil {
		how = append(how, tea.WithInput(opt.In))
	}
	_, err := tea.NewProgram(newModel(ctx, opt), how...).Run()
	if err != nil && ctx.Err() == nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}
