// Package top shows the actors of running daemons: as a full screen that follows them (Run), and as plain text (Tree,
// Once). It knows no daemon and no socket: what it shows comes from a Source. The model of the screen is pure, so its
// tests press keys and read lines. It has no counterpart in Salt.
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

// Source is where looks come from.
type Source interface {
	// Look tells the state of everything that is watched.
	Look(ctx context.Context) (*Look, error)
	// Stack tells what the goroutines of one actor do right now, as text.
	Stack(ctx context.Context, path string) (string, error)
}

// Look is the state of the watched daemons at a moment. Its trees are only read.
type Look struct {
	At     time.Time
	Facts  []string      // of the daemon as a process, for the headline
	Roots  []stats.Child // one for each daemon; paths begin with their names
	Silent []string      // who was asked and did not answer, with the reason
}

// Options of the screen.
type Options struct {
	Title  string // what is watched: "master", "minion web1", "minions web*"
	Source Source
	Every  time.Duration // between two looks
	Plain  bool          // no colors
	In     io.Reader     // nil: the terminal
	Out    io.Writer
}

// limits of Options.Every at the keyboard.
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
