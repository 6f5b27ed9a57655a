package copies

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/jobfiles"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/spool"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/python"
)

// Messages of the ReturnerSpool.
type (
	// Keep hands a return to returners. Asker, if any, gets a Kept when it is on disk, or cannot be.
	Keep struct {
		Returners []string
		Return    *payload.Map
		Asker     *supervisor.Ref
	}
	// Kept answers Keep.
	Kept struct{}
	// returnerCalled is the outcome of a call.
	returnerCalled struct {
		item spool.Item // Name "": the return was not on disk
		err  error
		by   *spooler // who has called
	}
	// returnerRested says that a returner which failed may be called again.
	returnerRested struct{ line string }
	// expireCopies removes what is too old.
	expireCopies struct{}
)

// Limits of the ReturnerSpool.
const (
	returnersUnkept   = 64 // calls at once for returns that the disk has no room for
	expireCopiesEvery = time.Hour
)

// Options are what the ReturnerSpool needs of the minion.
type Options struct {
	Ref      *supervisor.Ref // by which others know it
	Spool    spool.Options
	Registry *loader.Registry
	Env      *loader.Env
	Disabled []string    // disable_returners
	Calm     func() bool // whether the clock may be believed
	Clock    supervisor.Clock
	Log      *slog.Logger
}

// New makes the ReturnerSpool as a child.
func New(opt Options) daemon.Child {
	return daemon.Child{Spec: supervisor.Spec{Ref: opt.Ref, Name: "ReturnerSpool", Store: true,
		New: func() supervisor.Actor { return &spooler{opt: opt} }}}
}

// spooler hands returns to returners, those for one returner with the same options one after the other, and keeps
// on disk what it could not take: it gets it again, with growing pauses, over restarts. Nothing here delays the return
// to the master. A copy may reach its returner twice, when the minion ends while it is handed over.
type spooler struct {
	opt    Options
	spool  *spool.Spool
	lines  map[string]*returnerLine // by lineOf
	unkept int                      // calls under way for returns without a record
}

// returnerLine is what waits for one returner with the same options.
type returnerLine struct {
	busy, resting bool
	pause         time.Duration // before the next try; 0: the last one succeeded
}

func (s *spooler) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *Keep:
		s.onKeepReturn(ctx, m)
	case *returnerCalled:
		s.onReturnerCalled(ctx, m)
	case *returnerRested:
		s.onReturnerRested(ctx, m)
	case *expireCopies:
		s.onExpireCopies(ctx)
	case *supervisor.Flush:
		m.Done() // what is kept is on disk already
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *spooler) onStarted(ctx supervisor.Context) {
	s.opt.Spool.Damaged = jobfiles.TellDamage(s.opt.Log)
	var err error
	if s.spool, err = spool.Open(s.opt.Spool); err != nil {
		supervisor.Crash(err)
	}
	s.lines = map[string]*returnerLine{}
	for _, line := range s.spool.Lines() {
		s.call(ctx, line)
	}
	s.onExpireCopies(ctx)
}

// onKeepReturn takes one copy for each returner.
func (s *spooler) onKeepReturn(ctx supervisor.Context, m *Keep) {
	for _, name := range returners.Expand(m.Returners, provided(s.opt.Env.Opts)) {
		switch {
		case slices.Contains(s.opt.Disabled, name):
			s.opt.Log.Warn("Returner "+name+" is disabled (disable_returners)", "jid", m.Return.Str("jid"))
		case !returners.Has(s.opt.Registry, name):
			supervisor.Failed(ctx)
			s.opt.Log.Error("Returner "+name+".returner could not be called: there is no such returner", "jid",
				m.Return.Str("jid"))
		default:
			s.keep(ctx, name, m.Return)
		}
	}
	if m.Asker != nil {
		supervisor.Send(ctx, m.Asker, &Kept{})
	}
}

func provided(f func() *payload.Map) *payload.Map {
	if f == nil {
		return nil
	}
	return f()
}

// keep makes the record of a copy. One for which there is no room is handed over all the same, but once.
func (s *spooler) keep(ctx supervisor.Context, name string, ret *payload.Map) {
	line := lineOf(name, ret)
	_, err := s.spool.Put(name, line, ret, s.opt.Clock.Now())
	switch {
	case err == nil:
		s.call(ctx, line)
	case s.unkept >= returnersUnkept:
		supervisor.Failed(ctx)
		s.opt.Log.Error("a returner gets no copy of a return: too many wait that the disk has no room for", "returner",
			name, "jid", ret.Str("jid"), "err", err)
	default:
		s.opt.Log.Warn("a returner is tried once only", "returner", name, "jid", ret.Str("jid"), "err", err)
		s.unkept++
		s.hand(ctx, &returnerCalled{item: spool.Item{Returner: name}}, func() (any, error) { return ret, nil })
	}
}

// lineOf names the line of a copy: a database that is away holds up no other one.
func lineOf(name string, ret *payload.Map) string {
	return python.Repr([]any{name, ret.Value(payload.FieldRetConfig), ret.Value(payload.FieldRetKwargs)})
}

// call hands the oldest copy of a line to its returner, unless that has one in hand, or rests.
func (s *spooler) call(ctx supervisor.Context, name string) {
	line := s.lines[name]
	if line == nil {
		line = &returnerLine{}
		s.lines[name] = line
	}
	if line.busy || line.resting {
		return
	}
	item, ok := s.spool.Next(name)
	if !ok {
		delete(s.lines, name)
		return
	}
	line.busy = true
	held := s.spool
	s.hand(ctx, &returnerCalled{item: item}, func() (any, error) { return held.Value(item) })
}

// hand calls a returner beside the actor.
func (s *spooler) hand(ctx supervisor.Context, done *returnerCalled, value func() (any, error)) {
	self, opt := supervisor.Self(ctx), s.opt
	done.by = s
	supervisor.Go(ctx, "returner", func(ctx context.Context) error {
		done.err = opt.hand(ctx, done.item.Returner, value)
		if ctx.Err() == nil { // else this incarnation ends, and the next one calls
			self.Send(done)
		}
		return nil
	})
}

// hand calls a returner once.
func (o *Options) hand(ctx context.Context, name string, value func() (any, error)) error {
	v, err := value()
	if err != nil {
		return &returners.Unusable{Err: err}
	}
	ret, ok := v.(*payload.Map)
	if !ok {
		return &returners.Unusable{Err: errors.New("the record holds no return")}
	}
	ctx, cancel := context.WithTimeout(ctx, returners.CallTimeout)
	defer cancel()
	return returners.Return(loader.NewCall(ctx, o.Env, ret.Str("fun"), ret), o.Registry, name, ret)
}

func (s *spooler) onReturnerCalled(ctx supervisor.Context, m *returnerCalled) {
	if m.by != s {
		return // a predecessor's: this one has called, too
	}
	kept := m.item.Name != ""
	if !kept {
		s.unkept--
	}
	if m.err != nil {
		supervisor.Failed(ctx)
	}
	if m.err != nil && kept && !returners.Hopeless(m.err) {
		s.rest(ctx, m)
		return
	}
	if m.err != nil {
		s.opt.Log.Error("a returner did not take a return, which it is not given again", "returner", m.item.Returner,
			"err", m.err)
	}
	if !kept {
		return
	}
	if err := s.spool.Remove(m.item); err != nil { // it would come again with the next start
		s.opt.Log.Error("a copy that a returner has taken stays", "returner", m.item.Returner, "err", err)
	}
	line := s.lines[m.item.Line]
	line.busy, line.pause = false, 0
	s.call(ctx, m.item.Line)
}

// rest lets a returner be for a while.
func (s *spooler) rest(ctx supervisor.Context, m *returnerCalled) {
	line := s.lines[m.item.Line]
	line.busy, line.resting = false, true
	line.pause = returners.Pause(line.pause)
	s.opt.Log.Error("a returner could not take a return; it is tried again", "returner", m.item.Returner, "after",
		line.pause, "waiting", s.spool.Len(), "err", m.err)
	daemon.After(ctx, s.opt.Clock, line.pause, &returnerRested{m.item.Line})
}

func (s *spooler) onReturnerRested(ctx supervisor.Context, m *returnerRested) {
	if line := s.lines[m.line]; line != nil {
		line.resting = false
		s.call(ctx, m.line)
	}
}

// onExpireCopies removes what is too old, but for copies that are being handed over.
func (s *spooler) onExpireCopies(ctx supervisor.Context) {
	daemon.After(ctx, s.opt.Clock, expireCopiesEvery, &expireCopies{})
	if !s.opt.Calm() {
		return
	}
	old, err := s.spool.Expire(s.opt.Clock.Now())
	for _, i := range old {
		supervisor.Failed(ctx)
		s.opt.Log.Error("a returner never took a return, which is too old now (return_spool_max_age)", "returner",
			i.Returner, "made", i.Made)
	}
	if err != nil {
		s.opt.Log.Error("copies for returners that are too old stay", "err", err)
	}
}
