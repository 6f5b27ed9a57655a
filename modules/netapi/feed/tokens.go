package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"brine/wire/payload"
)

// ErrToken means that the token of a reader holds no longer: it was revoked, or has expired.
var ErrToken = errors.New("feed: token does not hold any more")

// How old an answer of the master may be: before events are handed out, and while there are none.
const (
	freshBusy = time.Second
	freshIdle = 30 * time.Second
)

// askingMost is how many questions about tokens that have held are under way at once.
const askingMost = 16

// Tokens knows which eauth tokens of readers still hold. However many readers a token has, the master is asked once a
// second for it while there are events, and twice a minute while there are none. Salt asks before each event, for each
// reader.
type Tokens struct {
	ask    func(ctx context.Context, token string) (*payload.Map, error)
	now    func() time.Time
	asking chan struct{}

	mu    sync.Mutex
	known map[string]*token
}

// token is what is known of one.
type token struct {
	turn    chan struct{} // holds a token of its own while nobody asks
	readers int

	mu     sync.Mutex
	asked  time.Time
	expire time.Time
	err    error
	gone   bool // it was revoked here: nobody needs to be asked
}

// NewTokens makes one. ask asks the master for a token: its start, expire, name, eauth and more.
func NewTokens(ask func(ctx context.Context, token string) (*payload.Map, error)) *Tokens {
	return &Tokens{ask: ask, now: time.Now, asking: make(chan struct{}, askingMost), known: map[string]*token{}}
}

// Holder is a token in the hand of one reader.
type Holder struct {
	of   *Tokens
	name string
	t    *token
	once sync.Once
}

// Hold notes that a reader has a token. The Holder must be closed.
func (t *Tokens) Hold(name string) *Holder {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.known[name]
	if k == nil {
		k = &token{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		t.known[name] = k
	}
	k.readers++
	return &Holder{of: t, name: name, t: k}
}

// Close forgets the reader, and the token with its last one.
func (h *Holder) Close() {
	h.once.Do(func() {
		h.of.mu.Lock()
		defer h.of.mu.Unlock()
		if h.t.readers--; h.t.readers == 0 {
			delete(h.of.known, h.name)
		}
	})
}

// Drop ends all streams of a token that was revoked, before the next event.
func (t *Tokens) Drop(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.known[name]; k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.gone = true
	}
}

// Check tells whether the token holds; busy before events are handed out. The error is ErrToken, or that of asking: who
// cannot be asked about is not let in.
func (h *Holder) Check(ctx context.Context, busy bool) error {
	fresh := freshIdle
	if busy {
		fresh = freshBusy
	}
	if err, known := h.t.known(h.of.now(), fresh); known {
		return err
	}
	select {
	case <-h.t.turn:
		defer func() { h.t.turn <- struct{}{} }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err, known := h.t.known(h.of.now(), fresh); known { // somebody else has asked meanwhile
		return err
	}
	return h.ask(ctx)
}

func (h *Holder) ask(ctx context.Context) error {
	if h.t.held() { // who brings another takes no place of theirs
		select {
		case h.of.asking <- struct{}{}:
			defer func() { <-h.of.asking }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	now := h.of.now()
	m, err := h.of.ask(ctx, h.name)
	if err != nil {
		if ctx.Err() == nil {
			h.t.note(now, time.Time{}, err)
		}
		return err
	}
	expire := expiry(m)
	if !expire.After(now) {
		err = ErrToken
	}
	h.t.note(now, expire, err)
	return err
}

// expiry is when a token expires; the zero time for one that does not say: Salt takes it for expired.
func expiry(m *payload.Map) time.Time {
	switch x := m.Value("expire").(type) {
	case float64:
		return time.UnixMilli(int64(min(x, 1e13) * 1e3))
	case int64:
		return time.Unix(x, 0)
	}
	return time.Time{}
}

func (t *token) note(asked, expire time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked, t.expire, t.err = asked, expire, err
}

// held tells whether the token has held when somebody asked.
func (t *token) held() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.expire.IsZero()
}

// known is the last answer, if it is fresh enough. One that has expired since is refused without asking.
func (t *token) known(now time.Time, fresh time.Duration) (error, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.gone:
		return ErrToken, true
	case t.asked.IsZero():
		return nil, false
	case t.err == nil && !t.expire.After(now):
		return ErrToken, true
	}
	return t.err, now.Sub(t.asked) < fresh
}
