package fleet

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"brine/modules/matchers"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Limits of what is remembered of publications, by number and by bytes. A group that lags further behind loses jobs.
const (
	mostPublications = 1024
	fewPublications  = 16
	publicationBytes = 16 << 20
)

// publications are those of the last moments: every group hears each of them.
type publications struct {
	mu    sync.Mutex
	last  []*publication // the oldest first
	bytes int
}

// find returns what is known of a frame.
func (ps *publications) find(frame []byte) *publication {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range slices.Backward(ps.last) {
		if bytes.Equal(p.frame, frame) { // they differ in their first bytes: each has a vector of its own
			return p
		}
	}
	p := &publication{frame: frame}
	ps.last, ps.bytes = append(ps.last, p), ps.bytes+len(frame)
	for n := len(ps.last); n > mostPublications || n > fewPublications &&
		ps.bytes > publicationBytes; n = len(ps.last) {
		ps.bytes -= len(ps.last[0].frame)
		ps.last[0] = nil
		ps.last = ps.last[1:]
	}
	return p
}

// publication is opened by one minion for all that have the same key.
type publication struct {
	frame []byte

	mu    sync.Mutex
	taken []bool               // by groups
	key   auth.KeyMark         // that it was opened with
	load  *payload.Map         // nil before
	meant func(id string) bool // whether it is for a minion; set with load
}

// takenBy notes that a group has it. False: it had it before.
func (p *publication) takenBy(group int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if missing := group + 1 - len(p.taken); missing > 0 {
		p.taken = append(p.taken, make([]bool, missing)...)
	}
	first := !p.taken[group]
	p.taken[group] = true
	return first
}

// openFor opens it, or finds it opened with a key that the minion has. auth.ErrReauth: it has another one.
func (p *publication) openFor(m *auth.Minion) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := m.SharedKey()
	if p.load != nil {
		if p.key != key {
			return auth.ErrReauth
		}
		return nil
	}
	load, err := m.OpenPublication(p.frame)
	if err != nil {
		return err
	}
	p.key, p.load, p.meant = key, load, whom(payload.NewJob(load))
	return nil
}

// whom takes a target apart, once for all minions. What only a minion's own data tells means nobody here.
func whom(job *payload.Job) func(id string) bool {
	tgt, kind := job.Tgt(), job.TgtType()
	text, _ := tgt.(string)
	switch list, isList := tgt.([]any); {
	case isList:
		ids := make(map[any]bool, len(list))
		for _, id := range list {
			if text, ok := id.(string); ok {
				ids[text] = true
			}
		}
		return func(id string) bool { return ids[id] }
	case kind == "" || kind == "glob":
		return fnmatch.Compile(text).Match
	}
	return func(id string) bool {
		hit, err := matchers.Match(tgt, kind, job.Delimiter(), &matchers.Facts{ID: id})
		return hit && err == nil
	}
}

// needsSignIn tells whether a publication does not open because the minion's key is out of date.
func needsSignIn(err error) bool { return errors.Is(err, auth.ErrReauth) }
