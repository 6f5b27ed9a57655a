package signin

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"brine/modules/fleet/keys"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// maxWeakKeys bounds the ids that are remembered; past it all are told of again.
const maxWeakKeys = 1024

// weakKeys tells once of each minion that is turned away because of its key, which others could break or the disk has
// damaged: it asks again and again.
type weakKeys struct {
	told sync.Map // by id
	n    atomic.Int32
}

func (w *weakKeys) say(log *slog.Logger, id, why string) {
	if _, told := w.told.LoadOrStore(id, true); told {
		log.Debug("sign-in refused", "minion", id, "why", why)
		return
	}
	if w.n.Add(1) > maxWeakKeys {
		w.told.Clear()
		w.n.Store(0)
	}
	log.Warn("sign-in refused", "minion", id, "why", why)
}

// maxListed is how many ids one line names.
const maxListed = 20

// ListWeakKeys says in one line which of the keys that were accepted others can break, so that nobody has to wait until
// their owners come.
func (s *Side) ListWeakKeys(ctx context.Context) {
	n, minions := s.WeakAccepted(ctx)
	if n == 0 {
		return
	}
	what := "accepted keys that others can break: their owners are turned away"
	if s.opt.WeakToo {
		what = "accepted keys that others can break: their owners are let in (allow_weak_keys)"
	}
	s.log.Warn(what, "count", n, "minions", minions)
}

// WeakAccepted counts the accepted keys that others can break, and names the first of their owners.
func (s *Side) WeakAccepted(ctx context.Context) (n int, minions string) {
	ids, err := s.parts.Keys.IDs(keys.Accepted)
	if err != nil {
		s.log.Error("accepted keys are not known", "err", err)
	}
	var named []string
	for _, id := range ids {
		if ctx.Err() != nil {
			break
		}
		pub, ok, err := s.parts.Keys.Read(keys.Accepted, id)
		if err != nil || !ok {
			continue
		}
		key, err := crypt.ParsePublicKey([]byte(pub))
		if err != nil || key.Weak() == nil {
			continue
		}
		if n++; n <= maxListed {
			named = append(named, payload.Show(id))
		}
	}
	minions = strings.Join(named, ", ")
	if n > maxListed {
		minions += fmt.Sprintf(" and %d more", n-maxListed)
	}
	return n, minions
}
