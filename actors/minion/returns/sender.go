package returns

import (
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/actors/minion/meter"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the ReturnSender.
type (
	// Send delivers the return of a job, over restarts of either side. Kept is called when the return is
	// on disk, before it is sent, or else when it is delivered. The ReturnSender runs it in its handler, or whoever
	// finds its event lost does: the files of the job must be gone before the master can have the return, or the next
	// process would answer for the job once more (docs/decisions/0044). Failed is called when no ReturnSender takes the
	// message, mostly because one died of it, by who finds that out; to send it once more is safe, Key tells that it is
	// the same. Neither may block.
	Send struct {
		Key    string
		JID    string
		Return *payload.Return // as it goes to the master
		Body   []byte          // Return packed for the journal
		Kept   func()
		Failed func(why error)
		bulk   int64       // bytes of a Body that is larger than the journal may take, and not held beside Return
		taken  atomic.Bool // the master has acknowledged it; said by the attempt, whose ReturnSender may be dead
		Reason bool        // it says why there is no other return
	}
	// Take delivers a return that somebody else has put into the journal.
	Take struct {
		JID    string
		Return journal.Spooled
	}
	// delivered is the outcome of one attempt to deliver a return.
	delivered struct {
		ret    *pending
		err    error
		sender *sender // that made the attempt
	}
	// noted says that a return is in the journal, or could not be put there.
	noted struct {
		ret    *pending
		err    error
		sender *sender
		asked  *Send
	}
	// replaced says that the reason stands in the journal in place of a return, or could not be put there.
	replaced struct {
		ret    *pending
		size   int64
		err    error
		sender *sender
	}
	// listed are the returns that were in the journal at the start.
	listed struct {
		all    []journal.Spooled
		sender *sender
	}
	// retryTimer does the same, when the pause after a failure is over.
	retryTimer struct{}
)

// Lost tells the job.
func (m *Send) Lost(why error) {
	if m.Failed != nil {
		m.Failed(why)
	}
}

func (m *noted) Written(err error) any { return &noted{m.ret, err, m.sender, m.asked} }

func (m *replaced) Replaced(size int64, err error) any {
	return &replaced{m.ret, size, err, m.sender}
}

// Lost tells the job: the next ReturnSender finds the return in the journal, or gets it again.
func (m *noted) Lost(why error) {
	if m.err == nil {
		m.asked.kept()
	} else {
		m.asked.Lost(why)
	}
}

// Options are what the ReturnSender needs of its connection.
type Options struct {
	Link     *link.Link
	Waits    *Waiting
	Clock    supervisor.Clock
	Meter    *meter.Meter
	Journal  *supervisor.Ref
	MaxBytes int64         // of returns on disk, 0: no cap
	Most     int           // returns
	MaxAge   time.Duration // 0: kept for ever
	Calm     func() bool   // whether the clock may be believed
	Diary    *ledger.Diary
	Heeded   *daemon.Bell // rung for those that wait until there are fewer returns
	Log      *slog.Logger
}

// New makes the ReturnSender of a link as a child.
func New(opt Options) daemon.Child {
	unkept := &[]*Send{}
	return daemon.Child{Spec: supervisor.Spec{Ref: opt.Link.Sender(), Name: "ReturnSender", Component: true,
		Store: true,
		New:   func() supervisor.Actor { return &sender{opt: opt, unkept: unkept} }}}
}

// sender delivers returns to one master. What it has taken is on disk before it is sent, and leaves the
// disk when the master has acknowledged it. Unlike Salt: a return is never given up because the master is away, or
// because it answers that it could not take it.
type sender struct {
	opt     Options
	unkept  *[]*Send // that are not on disk as they are; they outlive the actor
	self    *supervisor.Ref
	known   map[string]*pending // by key
	waiting []*pending          // in order; not sent yet
	failed  []*pending          // to be sent again by the next retry
	flying  int
	window  int      // how many may fly: more with each success, half with each failure
	pauses  int      // retries so far without a success
	timer   bool     // a retryTimer is on its way
	away    bool     // the last attempt has failed
	size    int64    // of the returns on disk, in bytes
	flush   []func() // to be called when there is nothing to be done
	untaken untaken
}

// Limits of the ReturnSender.
const (
	firstFlying   = 8  // before it is known how the master copes
	maxLoaded     = 64 // waiting returns held in memory as well as on disk
	bulkTries     = 3  // attempts to deliver a return that is held in memory only
	retryPause    = time.Second
	retryPauseMax = 30 * time.Second
)

func (r *sender) Receive(ctx supervisor.Context) {
	defer r.measure()
	defer r.flushed()
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		r.onStarted(ctx)
	case *Send:
		r.onSendReturn(ctx, m)
	case *link.Request:
		r.opt.Link.Carry(ctx, m)
	case *Take:
		r.onTakeReturn(ctx, m)
	case *noted:
		r.onNoted(ctx, m)
	case *replaced:
		r.onReplaced(m)
	case *delivered:
		r.onDelivered(ctx, m)
	case *listed:
		r.onListed(ctx, m)
	case *notedLate:
		r.onNotedLate(m)
	case *probeTimer:
		r.onProbe(ctx)
	case *link.MasterBack:
		r.releaseUntaken(ctx)
		r.retry(ctx)
	case *retryTimer:
		r.timer = false
		r.retry(ctx)
	case *supervisor.Flush:
		r.flush = append(r.flush, m.Done)
	default:
		supervisor.Unhandled(ctx)
	}
}

// measure notes how much there is.
func (r *sender) measure() {
	r.opt.Waits.Returns.Store(int64(len(r.known)))
	r.opt.Waits.Bytes.Store(r.size)
	r.opt.Heeded.Ring()
}

// onStarted asks for what a predecessor, or the process before this one, left in the journal.
func (r *sender) onStarted(ctx supervisor.Context) {
	r.self, r.known, r.window = supervisor.Self(ctx), make(map[string]*pending), firstFlying
	self := r.self
	unkept := *r.unkept
	*r.unkept = nil
	for _, m := range unkept {
		// as messages: one of them may kill; before the list, in which the reasons for some of them stand
		if m.taken.Load() {
			m.kept()
			continue
		}
		self.Send(m)
	}
	supervisor.Send(ctx, r.opt.Journal, &journal.List{Link: r.opt.Link.Name(), Done: func(all []journal.Spooled) {
		self.Send(&listed{all, r})
	}})
}

func (r *sender) onListed(ctx supervisor.Context, m *listed) {
	if m.sender != r {
		return
	}
	for _, s := range m.all {
		r.admit(s, s.Key)
	}
	r.trim(ctx)
	r.fly(ctx)
}

func (r *sender) onTakeReturn(ctx supervisor.Context, m *Take) {
	r.admit(m.Return, m.JID)
	r.trim(ctx)
	r.fly(ctx)
}

// admit takes a return that is in the journal, unless it has it already.
func (r *sender) admit(s journal.Spooled, jid string) {
	if r.known[s.Key] == nil {
		p := &pending{Spooled: s, jid: jid, bytes: s.Size}
		r.size += s.Size
		r.known[s.Key] = p
		r.waiting = append(r.waiting, p)
	}
}

// onSendReturn puts a return into the journal. It is sent when it is there. One that the journal may not take is held
// in memory, and in the journal stands what is to be said if it comes to nothing.
func (r *sender) onSendReturn(ctx supervisor.Context, m *Send) {
	if p := r.known[m.Key]; p != nil { // asked again
		if p.onDisk() {
			m.kept()
		} else {
			p.asked = m
		}
		return
	}
	body, size := m.Body, max(m.bulk, int64(len(m.Body)))
	p := &pending{jid: m.JID, ret: m.Return, asked: m, bytes: size, bulky: r.opt.MaxBytes > 0 &&
		size > r.opt.MaxBytes}
	if p.bulky {
		var err error
		if body, err = r.opt.reason(m.Key, m.Return, size); err != nil {
			supervisor.Crash(fmt.Errorf("pack reason for %s: %w", m.JID, err))
		}
	}
	p.Spooled = journal.Spooled{Key: m.Key, Size: int64(len(body)), At: r.opt.Clock.Now()}
	r.known[m.Key] = p
	r.write(ctx, m, body, &noted{ret: p, sender: r, asked: m})
}

// write puts a return into the journal. The note comes back with the outcome.
func (r *sender) write(ctx supervisor.Context, m *Send, body []byte, note journal.Note) {
	supervisor.Send(ctx, r.opt.Journal, &journal.Write{
		Record: journal.Record{Kind: journal.Returned, Key: m.Key, Link: r.opt.Link.Name(), Body: body},
		Asker:  r.self, Note: note,
	})
}

func (m *Send) kept() {
	if m.Kept != nil {
		m.Kept()
	}
}

// onNoted sends a return that is in the journal by now, or cannot be put there.
func (r *sender) onNoted(ctx supervisor.Context, m *noted) {
	p := m.ret
	r.noteSpooled(p, m.err)
	if m.sender != r { // asked for by a predecessor
		if q := r.known[p.Key]; q != nil {
			if m.err == nil || q.onDisk() {
				p.asked.kept()
			}
			return
		}
		r.known[p.Key] = p
	}
	r.keep(p, m.err)
	if p.taken {
		r.opt.over(p.Key)
		r.forget(p)
		return
	}
	r.waiting = append(r.waiting, p)
	r.trim(ctx)
	r.fly(ctx)
}

// keep notes what of a return is on disk, and holds on to the rest.
func (r *sender) keep(p *pending, err error) {
	if err != nil {
		p.bulky = false // nothing stands in its place
		p.held = p.asked
		*r.unkept = append(*r.unkept, p.held)
		return
	}
	r.size += p.Size
	p.asked.kept()
	if p.bulky {
		p.held = &Send{Key: p.Key, JID: p.jid, Return: p.ret, bulk: p.bytes}
		*r.unkept = append(*r.unkept, p.held)
	} else if len(r.waiting) >= maxLoaded {
		p.ret = nil
	}
	p.asked = nil
}

// forget ends the work on a return that is delivered, or cannot be.
func (r *sender) forget(p *pending) {
	delete(r.known, p.Key)
	r.release(p)
	if p.onDisk() {
		r.size -= p.Size
	} else {
		p.asked.kept()
	}
}

// release drops what is held of a return beyond restarts of the actor.
func (r *sender) release(p *pending) {
	*r.unkept = slices.DeleteFunc(*r.unkept, func(m *Send) bool { return m.Key == p.Key })
}

// over lets the journal forget a job: the master has its return, or will never have it. It may be called by any
// goroutine. A return that could not be put there has left the record of its beginning.
func (o *Options) over(key string) {
	o.Journal.Send(&journal.Write{Record: journal.Record{Kind: journal.Gone, Key: key}})
}

// Waiting are how many returns one master has not acknowledged. Any number of goroutines may use it.
type Waiting struct {
	Returns, Bytes atomic.Int64 // bytes of those on disk
}

// flushed tells who waits for it that all has been done for the returns: the master has them, or will not have them
// now.
func (r *sender) flushed() {
	if len(r.flush) == 0 || r.opt.Link.Up() && len(r.known) > len(r.failed)+len(r.untaken.list) {
		return
	}
	for _, done := range r.flush {
		done()
	}
	r.flush = nil
}

// Content is the job that is answered, with its return or with the reason why there is none.
func (m *Send) Content() []byte {
	if m.Reason {
		return []byte(m.Key + " reason")
	}
	return []byte(m.Key)
}
