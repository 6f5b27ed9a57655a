// Package backlog keeps the events that the Reactor has yet to react to, on disk and bounded, and remembers which of
// their calls were begun. It knows neither rules nor calls. Events of one lane are handed out one after another, in
// their order; those of different lanes do not wait for each other. It has no counterpart in Salt, whose Reactor
// forgets what it had not come to.
//
// The file is a log: an event, a call that is begun, an event that is done with; each record with its length and a
// checksum. It is emptied when nothing waits, and made anew when most of it is done with. Nothing is synced: what is in
// it outlives the process, not a power cut.
package backlog

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"brine/wire/disk/setaside"
	"brine/wire/event"
)

// ErrFull means that as many events wait as may.
var ErrFull = errors.New("backlog: as many events wait as may")

// Limits of what waits. Zero values stand for 100,000 events, 64 MiB, and 8 MiB in memory.
type Limits struct {
	Events int
	Bytes  int64
	Memory int64 // bytes of events that could not be written
}

func (l Limits) filled() Limits {
	if l.Events == 0 {
		l.Events = 100000
	}
	if l.Bytes == 0 {
		l.Bytes = 64 << 20
	}
	if l.Memory == 0 {
		l.Memory = 8 << 20
	}
	return l
}

// Event is one that is handed out.
type Event struct {
	Seq   uint64
	Tag   string
	Body  []byte // as it is on the bus
	Again bool   // it was handed out before
	Tries int    // how often it was returned
}

// entry is an event that is not done with.
type entry struct {
	seq   uint64
	lane  *lane
	at    int64 // of its body in the file; below 0: it is in memory
	size  int
	body  []byte // when it is in memory
	out   bool   // handed out
	taken bool   // it ever was
	tries int
	begun map[string]note
}

// note says that a call was begun.
type note struct {
	jid    string
	before bool // by a process before this one
	ended  bool // and came to its end
}

// kind is that of the record which says so.
func (n note) kind() byte {
	if n.ended {
		return kindEnded
	}
	return kindBegun
}

// lane holds the events that are handed out one after another.
type lane struct {
	name    string
	waiting []*entry
	busy    *entry // whose turn is not over; nil: the next one may be handed out
	ready   bool   // it is in the list of those that have something to hand out
}

// Backlog is safe for concurrent use.
type Backlog struct {
	limits  Limits
	told    func(setaside.Damage)
	log     *log
	mu      sync.Mutex
	next    uint64
	entries map[uint64]*entry
	lanes   map[string]*lane
	ready   []*lane
	bytes   int64 // of all entries
	memory  int64 // of those in memory
}

// Open takes up what a process before has left in a file, which is made if it is not there. laneOf says in which lane
// an event of a tag is; it is called for each that was left. What is damaged is set aside and told of, and so is what
// it may mean: an event that stood there is lost, one whose end stood there comes up again.
func Open(path string, limits Limits, laneOf func(tag string) string, told func(setaside.Damage)) (b *Backlog,
	err error) {
	b = &Backlog{limits: limits.filled(), told: told, entries: map[uint64]*entry{}, lanes: map[string]*lane{}}
	var order []uint64
	var damage error
	b.log, damage, err = openLog(path, func(r record) {
		switch r.kind {
		case kindEvent:
			b.entries[r.seq] = &entry{seq: r.seq, at: r.at, size: len(r.rest),
				lane: &lane{name: laneOf(event.Tag(r.rest))}}
			order = append(order, r.seq)
		case kindBegun:
			if e := b.entries[r.seq]; e != nil {
				e.begin(r.call, note{jid: r.jid, before: true})
			}
		case kindEnded:
			if e := b.entries[r.seq]; e != nil {
				e.begin(r.call, note{jid: r.jid, ended: true})
			}
		case kindDone:
			delete(b.entries, r.seq)
		}
		b.next = max(b.next, r.seq)
	})
	if err != nil {
		return nil, err
	}
	for _, seq := range order {
		if e := b.entries[seq]; e != nil {
			b.bytes += int64(e.size)
			e.lane = b.lane(e.lane.name)
			b.queue(e, false)
		}
	}
	switch {
	case damage != nil:
		told(b.setAside(fmt.Errorf("%w: events for the Reactor, or what it has made of them; %d events are whole "+
			"and wait", damage, len(b.entries))))
	case b.log.f != nil && !b.log.format.Headed():
		b.renew() // of an older release
	}
	return b, nil
}

func (e *entry) begin(call string, n note) {
	if e.begun == nil {
		e.begun = map[string]note{}
	}
	e.begun[call] = n
}

func (b *Backlog) lane(name string) *lane {
	l := b.lanes[name]
	if l == nil {
		l = &lane{name: name}
		b.lanes[name] = l
	}
	return l
}

// queue puts an event at one end of its lane.
func (b *Backlog) queue(e *entry, first bool) {
	e.out, e.lane = false, b.lane(e.lane.name) // its lane may have been forgotten meanwhile
	if first {
		e.lane.waiting = append([]*entry{e}, e.lane.waiting...)
	} else {
		e.lane.waiting = append(e.lane.waiting, e)
	}
	b.wake(e.lane)
}

// wake lists a lane that has something to hand out, and forgets one that has nothing.
func (b *Backlog) wake(l *lane) {
	switch {
	case l.busy != nil || l.ready:
	case len(l.waiting) > 0:
		l.ready = true
		b.ready = append(b.ready, l)
	default:
		delete(b.lanes, l.name)
	}
}

// Keep takes an event. Where the disk does not take it, it is kept in memory as far as there is room, and err says so
// with kept true.
func (b *Backlog) Keep(lane string, body []byte) (kept bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) >= b.limits.Events || b.bytes+int64(len(body)) > b.limits.Bytes {
		return false, ErrFull
	}
	seq := b.next + 1
	e := &entry{seq: seq, size: len(body)}
	if e.at, err = b.log.append(record{kind: kindEvent, seq: seq, rest: body}); err != nil {
		if b.memory+int64(len(body)) > b.limits.Memory {
			return false, err
		}
		e.at, e.body = -1, body
		b.memory += int64(len(body))
	}
	b.next = seq
	b.entries[seq] = e
	b.bytes += int64(len(body))
	e.lane = b.lane(lane)
	b.queue(e, false)
	return true, err
}

// Take hands out the next event of a lane that is not busy. From then on its lane is, until Free, Return or Settle.
func (b *Backlog) Take() (ev Event, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ready) > 0 {
		l := b.ready[0]
		b.ready = b.ready[1:]
		l.ready = false
		if len(l.waiting) == 0 {
			continue
		}
		e := l.waiting[0]
		l.waiting = l.waiting[1:]
		body, err := b.bodyOf(e)
		if err != nil { // the file was damaged meanwhile
			b.told(setaside.Damage{Path: b.log.path, Err: fmt.Errorf("event %d is lost: %w", e.seq, err)})
			b.settle(e)
			b.wake(l)
			continue
		}
		l.busy, e.out = e, true
		ev = Event{Seq: e.seq, Tag: event.Tag(body), Body: body, Again: e.taken, Tries: e.tries}
		e.taken = true
		return ev, true
	}
	return Event{}, false
}

func (b *Backlog) bodyOf(e *entry) ([]byte, error) {
	if e.at < 0 {
		return e.body, nil
	}
	return b.log.body(e.at, e.size)
}

// Free lets the lane of an event that was taken go on. Settle does it, too.
func (b *Backlog) Free(seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[seq]; e != nil {
		b.free(e)
	}
}

func (b *Backlog) free(e *entry) {
	if e.lane.busy == e {
		e.lane.busy = nil
		b.wake(e.lane)
	}
}

// Return puts an event back to the front of its lane: whoever had taken it has died of something, and perhaps of it.
func (b *Backlog) Return(seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[seq]; e != nil && e.out {
		if e.lane.busy == e {
			e.lane.busy = nil
		}
		e.tries++
		b.queue(e, true)
	}
}

// Recall puts all events back that were taken and are not done with, in their order: nobody who had one is alive.
func (b *Backlog) Recall() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		l.busy = nil
	}
	again := map[*lane][]*entry{}
	for _, seq := range b.seqs() {
		if e := b.entries[seq]; e.out {
			e.out, e.lane = false, b.lane(e.lane.name)
			again[e.lane] = append(again[e.lane], e)
		}
	}
	for l, list := range again {
		l.waiting = append(list, l.waiting...)
	}
	for _, l := range b.lanes {
		b.wake(l)
	}
}

// State is how a call stands that is about to be made.
type State int

// States of a call.
const (
	Mine   State = iota // nobody has begun it; from now on it is begun
	Begun               // this process has begun it, or it has ended: it is not to be made again
	Before              // a process before this one has begun it; nobody knows how far it came
)

// Begin asks whether a call of an event is to be made, and notes that it is begun. jid is what it is made under: of one
// that was begun before, the id of then.
func (b *Backlog) Begin(seq uint64, call, jid string) (State, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[seq]
	if e == nil { // it is done with
		return Begun, jid
	}
	n, known := e.begun[call]
	switch {
	case !known:
		e.begin(call, note{jid: jid})
		if e.at >= 0 {
			// one that cannot be written counts for this process
			_, _ = b.log.append(record{kind: kindBegun, seq: seq, call: call, jid: jid})
		}
		return Mine, jid
	case n.before:
		e.begun[call] = note{jid: n.jid}
		return Before, n.jid
	}
	return Begun, n.jid
}

// End says that a call has come to its end, well or not.
func (b *Backlog) End(seq uint64, call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[seq]
	if e == nil {
		return
	}
	n := note{jid: e.begun[call].jid, ended: true}
	e.begin(call, n)
	if e.at >= 0 {
		// without it the call is in doubt after a restart
		_, _ = b.log.append(record{kind: kindEnded, seq: seq, call: call, jid: n.jid})
	}
}

// Settle says that an event is done with.
func (b *Backlog) Settle(seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[seq]
	if e == nil {
		return
	}
	b.settle(e)
}

func (b *Backlog) settle(e *entry) {
	delete(b.entries, e.seq)
	b.free(e)
	b.bytes -= int64(e.size)
	if e.at < 0 {
		b.memory -= int64(e.size)
	} else {
		// without it the event comes up again after a restart, its calls begun
		_, _ = b.log.append(record{kind: kindDone, seq: e.seq})
	}
	switch {
	case len(b.entries) == 0:
		b.log.empty()
	case b.log.size > 2*b.bytes+slack:
		b.renew()
	}
}

// Waiting is how many events are not done with, and their bytes.
func (b *Backlog) Waiting() (events int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries), b.bytes
}

// Close writes out what waits in memory, if the disk takes it now, and closes the file.
func (b *Backlog) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, seq := range b.seqs() {
		e := b.entries[seq]
		if e.at >= 0 {
			continue
		}
		_, err := b.log.append(record{kind: kindEvent, seq: seq, rest: e.body})
		for call, n := range e.begun {
			if err == nil {
				_, err = b.log.append(record{kind: n.kind(), seq: seq, call: call, jid: n.jid})
			}
		}
		errs = append(errs, err)
	}
	if len(b.entries) == 0 {
		b.log.cut()
	}
	return errors.Join(append(errs, b.log.close())...)
}

// renew writes the file anew, with what is not done with.
func (b *Backlog) renew() {
	at := make(map[*entry]int64, len(b.entries))
	if b.log.renew(b.rest(at)) {
		b.moved(at)
	}
}

// setAside is renew for a damaged file, which is kept.
func (b *Backlog) setAside(why error) setaside.Damage {
	at := make(map[*entry]int64, len(b.entries))
	before := b.log.f
	d := b.log.setAside(why, b.rest(at))
	if b.log.f != before {
		b.moved(at)
	}
	return d
}

// rest puts what is not done with into a new file, and notes where.
func (b *Backlog) rest(at map[*entry]int64) func(put func(record) (int64, error)) error {
	return func(put func(record) (int64, error)) error {
		for _, seq := range b.seqs() {
			e := b.entries[seq]
			body, err := b.bodyOf(e)
			if err != nil {
				return err
			}
			if at[e], err = put(record{kind: kindEvent, seq: seq, rest: body}); err != nil {
				return err
			}
			for call, n := range e.begun {
				if _, err := put(record{kind: n.kind(), seq: seq, call: call, jid: n.jid}); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// moved says where the events are in a new file.
func (b *Backlog) moved(at map[*entry]int64) {
	for e, where := range at {
		if e.at < 0 {
			b.memory -= int64(e.size)
		}
		e.at, e.body = where, nil
	}
}

// seqs are the events in their order.
func (b *Backlog) seqs() []uint64 {
	out := make([]uint64, 0, len(b.entries))
	for seq := range b.entries {
		out = append(out, seq)
	}
	slices.Sort(out)
	return out
}
