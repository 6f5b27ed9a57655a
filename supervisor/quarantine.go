package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"brine/supervisor/stats"
)

// Content is a message of bytes that may come again: a peer repeats a request, or a sender repeats a lost message. For
// the quarantine, two messages of one type with the same content are the same. A message without content is the same
// only if it is the same value: a message like CommitDone{} always looks alike, and must not be set aside because two
// of them met a bug. Content is called after a death, and before each delivery while messages of that type are set
// aside. nil means that there is no content.
type Content interface{ Content() []byte }

// Limits of one quarantine; the oldest entry is dropped first.
const (
	keepSuspects = 64
	keepApart    = 1024
	showApart    = 5
)

// quarantine remembers the messages that killed an actor. After the second time, a message is set aside and never
// delivered again. A quarantine outlives incarnations; interchangeable actors share one (Options.Pool).
type quarantine struct {
	some atomic.Bool // a message is set aside

	mu       sync.Mutex
	suspects []mark // killed an actor once, oldest first
	apart    []mark // killed an actor twice
	total    int
	shown    []stats.Quarantined // the newest in apart
}

// mark identifies a message.
type mark struct {
	kind reflect.Type
	hash [sha256.Size]byte // of the content
	self any               // the message, if it has no content
}

// markOf returns false for a message that cannot be recognized again: a value that is not a pointer, or an empty
// struct.
func markOf(msg any) (m mark, size int, ok bool) {
	defer func() {
		if recover() != nil { // a panic in Content
			ok = false
		}
	}()
	t := reflect.TypeOf(msg)
	if t == nil {
		return mark{}, 0, false
	}
	if c, has := msg.(Content); has {
		if b := c.Content(); b != nil {
			return mark{kind: t, hash: sha256.Sum256(b)}, len(b), true
		}
	}
	if t.Kind() != reflect.Pointer || t.Elem().Size() == 0 {
		return mark{}, 0, false
	}
	return mark{kind: t, self: msg}, 0, true
}

// killed records a death while msg was being handled. again is true for the second one.
func (q *quarantine) killed(msg any) (m mark, size int, again bool) {
	m, size, ok := markOf(msg)
	if !ok {
		return m, 0, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.suspects, m)
	if i < 0 {
		q.suspects = pushBounded(q.suspects, m, keepSuspects)
		return m, 0, false
	}
	q.suspects = slices.Delete(q.suspects, i, i+1)
	q.apart = pushBounded(q.apart, m, keepApart)
	q.total++
	q.some.Store(true)
	return m, size, true
}

// holds tells whether msg is set aside.
func (q *quarantine) holds(msg any) bool {
	t := reflect.TypeOf(msg)
	q.mu.Lock()
	some := slices.ContainsFunc(q.apart, func(m mark) bool { return m.kind == t })
	q.mu.Unlock()
	if !some {
		return false
	}
	m, _, ok := markOf(msg)
	if !ok {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.apart, m)
}

func (q *quarantine) show(one stats.Quarantined) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shown = pushBounded(q.shown, one, showApart)
}

// list returns how many messages are set aside, and the newest of them.
func (q *quarantine) list() (int, []stats.Quarantined) {
	if !q.some.Load() {
		return 0, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total, slices.Clone(q.shown)
}

// pushBounded appends one element and drops the oldest ones beyond the bound.
func pushBounded[T any](list []T, one T, bound int) []T {
	if len(list) >= bound {
		list = slices.Delete(list, 0, len(list)-bound+1)
	}
	return append(list, one)
}

// killedBy records that an incarnation died, or was abandoned, while it handled msg.
func (r *Ref) killedBy(msg any, reason string) {
	msg = unwrap(msg)
	if RuntimeMessage(msg) {
		return
	}
	m, size, again := r.inbox.quarantine.killed(msg)
	if !again {
		return
	}
	one := stats.Quarantined{
		Time: r.sup.opt.Clock.Now(), Name: r.spec.Name, Path: r.path, Message: typeName(msg), Reason: reason,
		Size: size,
	}
	if m.self != nil {
		m.hash, one.Size = hashPrinted(msg)
	}
	one.Hash = hex.EncodeToString(m.hash[:])
	r.inbox.quarantine.show(one)
	r.sup.log.Warn("message set aside: the actor died of it twice", "actor", r.path, "type", one.Message, "hash",
		one.Hash, "err", reason)
	for s := r.sup; s != nil; s = s.parent {
		if s.opt.OnQuarantine != nil {
			s.opt.OnQuarantine(one)
		}
	}
}

// hashPrinted is the hash of a message without content: of its type and printed form.
func hashPrinted(msg any) ([sha256.Size]byte, int) {
	text := fmt.Appendf(nil, "%T %+v", msg, msg)
	return sha256.Sum256(text), len(text)
}
