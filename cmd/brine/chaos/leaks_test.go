package chaos

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// These allowances are added to the level at the start, for caches that grow with the load. An example are idle
// connections to the master, of which a minion holds up to 36 for half a minute (actors/minion/requestpool.go).
const (
	moreGoroutines = 25
	moreFiles      = 60
)

// level counts the resources of a daemon at rest.
type level struct{ goroutines, files int64 }

// rest waits until no job is unfinished anywhere: every brine minion has answered all jobs that it had begun,
// and the master has acknowledged the answers.
func (f *fleet) rest(ctx context.Context) error {
	for _, m := range f.minions {
		err := until(ctx, "rest of "+m.id, func() error {
			left, err := m.askMap(ctx, "cmd", "jobs")
			if err != nil {
				return err
			}
			for _, what := range []string{"running", "queued", "returns"} {
				if list := left.List(what); len(list) > 0 {
					return fmt.Errorf("%d %s: %.500s", len(list), what, fmt.Sprint(list...))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// whole waits until every actor of a daemon runs, no message waits in its mailbox, and no goroutine hangs.
func (f *fleet) whole(ctx context.Context, m *member) error {
	return until(ctx, "actors of "+m.id, func() error {
		paths, nodes, err := m.tree(ctx)
		if err != nil {
			return err
		}
		for i, n := range nodes {
			stuck, _ := n.Int("stuck")
			waiting, _ := n.Int("mailbox")
			if n.Str("state") != "running" || stuck > 0 || waiting > 0 {
				return fmt.Errorf("%s is %s, %d messages wait, %d goroutines are stuck", paths[i], n.Str("state"),
					waiting, stuck)
			}
		}
		for _, p := range f.statics[m.id] {
			if !slices.Contains(paths, p) {
				return fmt.Errorf("%s is not there", p)
			}
		}
		return nil
	})
}

// levelOf reads the current level of a daemon.
func (f *fleet) levelOf(ctx context.Context, m *member) (level, error) {
	p, err := m.askMap(ctx, "cmd", "process")
	if err != nil {
		return level{}, err
	}
	goroutines, _ := p.Int("goroutines")
	files, _ := p.Int("open_files")
	return level{goroutines, files}, nil
}

// leaks waits until every brine daemon holds about as much as before the round. It returns the resources that
// were not freed.
func (f *fleet) leaks(ctx context.Context, before map[string]level) (bad []string) {
	for _, m := range f.ours() {
		if err := f.whole(ctx, m); err != nil {
			bad = append(bad, err.Error())
		}
		var now level
		was := before[m.id]
		err := until(ctx, "what "+m.id+" holds", func() (err error) {
			if now, err = f.levelOf(ctx, m); err != nil {
				return err
			}
			if now.goroutines > was.goroutines+moreGoroutines || now.files > was.files+moreFiles {
				return fmt.Errorf("%d goroutines and %d files, before %d and %d", now.goroutines, now.files,
					was.goroutines, was.files)
			}
			return nil
		})
		f.report.held(m.id, was, now)
		if err != nil {
			bad = append(bad, err.Error())
		}
	}
	if err := until(ctx, "the end of what was started", f.leftovers); err != nil {
		bad = append(bad, err.Error())
	}
	return bad
}

// leftovers reports zombies, and child processes that are neither daemons nor belong to a Salt minion.
func (f *fleet) leftovers() error {
	reapOrphans(f.owns)
	var daemons, guests []int
	for _, m := range f.ours() {
		daemons = append(daemons, m.pid(), m.worker())
	}
	for _, m := range f.guests {
		guests = append(guests, m.pid())
	}
	var left []string
	for _, p := range below(processes(), os.Getpid(), guests...) {
		if !slices.Contains(daemons, p.pid) || p.state == 'Z' {
			left = append(left, p.String())
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%d processes are left:\n%s", len(left), strings.Join(left, "\n"))
	}
	return nil
}

// levels reads the levels of all brine daemons.
func (f *fleet) levels(ctx context.Context) (map[string]level, error) {
	all := map[string]level{}
	for _, m := range f.ours() {
		l, err := f.levelOf(ctx, m)
		if err != nil {
			return nil, err
		}
		all[m.id] = l
	}
	return all, nil
}
