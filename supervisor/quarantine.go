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

// Content is a message made of bytes that may come again: a peer asks once more, a sender repeats what was lost.
// Two messages of one type with the same content are the same message to the quarantine. One without content is
// the same only if it is the same value: a message like CommitDone{} looks alike every time and must not be set
// aside because two of them met a bug. Content is called after a death, and before a delivery while messages of
// that type are set aside; nil means that there is none.
type Content interface{ Content() []byte }

// Bounds of one quarantine; the oldest is forgotten first.
const (
	keepSuspects = 64
	keepApart    = 1024
	showApart    = 5
)

// quarantine knows the messages that an actor died of. Once is bad luck, the second time the message is set
// aside and never delivered again. It outlives incarnations; interchangeable actors share one (Options.Pool).
type quarantine struct {
	some atomic.Bool // a message is set aside

	mu       sync.Mutex
	suspects []mark // killed once, oldest first
	apart    []mark // killed twice
	total    int
	shown    []stats.Quarantined // the newest of apart
}

// mark is how a message is known again.
type mark struct {
	kind reflect.Type
	hash [sha256.Size]byte // of the content
	self any               // the message, when it has no content
}

// markOf is false for a message that cannot be known again: a value without a pointer, an empty struct.
func markOf(msg any) (m mark, size int, ok bool) {
	defer func() {
		if recover() != nil { // in Content
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

// killed takes note of a death with msg in hand. It is true when that was the second.
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

// holds says whether msg is set aside.
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

// list is the number of messages set aside and the newest of them.
func (q *quarantine) list() (int, []stats.Quarantined) {
	if !q.some.Load() {
		return 0, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total, slices.Clone(q.shown)
}

// pushBounded appends and drops the oldest beyond a bound.
func pushBounded[T any](list []T, one T, bound int) []T {
	if len(list) >= bound {
		list = slices.Delete(list, 0, len(list)-bound+1)
	}
	return append(list, one)
}

// killedBy takes note that an incarnation died, or was abandoned, with msg in hand.
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

// hashPrinted is the hash of a message that has no content: of its type and printed form.
func hashPrinted(msg any) ([sha256.Size]byte, int) {
	text := fmt.Appendf(nil, "%T %+v", msg, msg)
	return sha256.Sum256(text), len(text)
}
