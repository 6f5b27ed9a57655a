package netapi

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of SeenTokens.
const (
	takenKept    = 1 << 15
	refusedKept  = 1 << 13
	refusedCount = time.Minute // how long a refusal counts
)

// SeenTokens are the last eauth tokens of which the master has said something. It is a bounded number; the oldest go
// first. Any number of goroutines may use it.
type SeenTokens struct {
	mu             sync.Mutex
	taken, refused digests
	now            func() time.Time // nil: the clock
}

// NewSeenTokens makes an empty one.
func NewSeenTokens() *SeenTokens {
	return &SeenTokens{taken: digests{most: takenKept}, refused: digests{most: refusedKept}}
}

// Look tells whether the master has taken a token when it was asked last, or has refused it just now.
func (s *SeenTokens) Look(token string) (taken, refused bool) {
	d := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken = s.taken.at(d); taken {
		return true, false
	}
	when, is := s.refused.at(d)
	past := s.time().Sub(when)
	return false, is && past >= 0 && past < refusedCount
}

// Note keeps whether the master has taken a token.
func (s *SeenTokens) Note(token string, taken bool) {
	d := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	to, other := &s.refused, &s.taken
	if taken {
		to, other = other, to
	}
	other.drop(d)
	to.add(d, s.time())
}

func (s *SeenTokens) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// digest stands for a token, so that the time that looking it up takes tells nothing about it.
type digest = [sha256.Size]byte

// digests are those of tokens, with the time when something was said of them.
type digests struct {
	most int
	byID map[digest]*list.Element
	all  list.List
}

type seen struct {
	d  digest
	at time.Time
}

func (s *digests) at(d digest) (time.Time, bool) {
	e := s.byID[d]
	if e == nil {
		return time.Time{}, false
	}
	return e.Value.(seen).at, true
}

func (s *digests) add(d digest, at time.Time) {
	s.drop(d)
	if s.byID == nil {
		s.byID = map[digest]*list.Element{}
	}
	if s.all.Len() >= s.most {
		s.drop(s.all.Back().Value.(seen).d)
	}
	s.byID[d] = s.all.PushFront(seen{d, at})
}

func (s *digests) drop(d digest) {
	if e := s.byID[d]; e != nil {
		s.all.Remove(e)
		delete(s.byID, d)
	}
}
