package fileserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Kept is a backend that keeps copies of what lies elsewhere (gitfs).
type Kept interface {
	// UpdateRemotes fetches some remotes, none for all, whether their time has come or not.
	UpdateRemotes(ctx context.Context, remotes []string) (*Changes, error)
	ClearCache() error
	// Lock keeps updates from the remotes that a glob means, "" for all, until ClearLock; both tell of each.
	Lock(remote string) ([]string, error)
	ClearLock(remote string) ([]string, error)
}

// ErrNoRemotes means that remotes are named for a backend that has none.
var ErrNoRemotes = errors.New("update() got an unexpected keyword argument 'remotes'")

// Refresh updates some backends, nil for all, at once: some remotes of them, nil for all.
func (s *Server) Refresh(ctx context.Context, back, remotes []string) (all []*Changes, err error) {
	for _, b := range s.backends(back) {
		kept, ok := b.(Kept)
		if !ok && len(remotes) > 0 {
			if _, updates := b.(Updater); updates {
				return all, ErrNoRemotes
			}
			continue
		}
		var changes []*Changes
		var bad error
		if ok {
			var one *Changes
			if one, bad = kept.UpdateRemotes(ctx, remotes); one != nil {
				changes = []*Changes{one}
			}
		} else {
			changes, bad = s.Update(ctx, []string{b.Name()})
		}
		all, err = append(all, changes...), errors.Join(err, bad)
	}
	return all, err
}

// Chore is what operators ask of backends that keep copies.
type Chore int

// The chores of a Kept.
const (
	ClearCache Chore = iota
	Lock
	ClearLock
)

// Do does a chore for the remotes of some backends, nil for all, that a glob means, "" for all, and tells what was done
// and what could not be, in Salt's words.
func (s *Server) Do(chore Chore, back []string, remote string) (done, failed []string) {
	for _, b := range s.backends(back) {
		kept, ok := b.(Kept)
		if !ok {
			continue
		}
		var told []string
		var err error
		switch chore {
		case ClearCache:
			if err = kept.ClearCache(); err == nil {
				told = []string{fmt.Sprintf("The %s fileserver cache was successfully cleared", b.Name())}
			}
		case Lock:
			told, err = kept.Lock(remote)
		case ClearLock:
			told, err = kept.ClearLock(remote)
		}
		done = append(done, told...)
		if err != nil {
			failed = append(failed, strings.Split(err.Error(), "\n")...)
		}
	}
	return done, failed
}

// fullName is the name of a backend for the short one that options and arguments may have.
func fullName(name string) string {
	switch strings.TrimPrefix(name, "-") {
	case "git", "hg", "svn", "minion":
		return name + "fs"
	}
	return name
}
