package supervisor

import (
	"sync"
	"time"
)

// Messages of a Stop, for actors whose Spec asks for them. The actor calls Done once, from any goroutine, when it has
// finished. A Stop does not wait for an actor that dies meanwhile.
type (
	// CloseIntake tells the actor to accept nothing more from outside. Work that it has already accepted is still done
	// and answered, so the socket stays open.
	CloseIntake struct{ Done func() }
	// Flush tells the actor to store the data that it holds, for example on disk.
	Flush struct{ Done func() }
)

// Lost ends the wait.
func (m *CloseIntake) Lost(error) { m.Done() }

// Lost ends the wait.
func (m *Flush) Lost(error) { m.Done() }

// Phase is a part of a Stop before the actors are stopped.
type Phase struct {
	Name string
	Took time.Duration
	Late []string // paths of the actors that did not finish in time
}

// Names of the phases, in order.
const (
	PhaseIntake  = "intake closed"
	PhaseMail    = "mailboxes drained"
	PhaseFlushed = "stores flushed"
)

// Shares of the phases in the time of a Stop, in eighths. At least half of the time is left for the actors.
const (
	intakeShare = 1
	mailShare   = 2
	flushShare  = 1
)

// quietEvery is the interval for checking the mailboxes while they are drained, in real time.
const quietEvery = time.Millisecond

// phases closes the intake, lets the actors finish their work, and has it stored. A tree without an intake and a store
// has no phases.
func (s *Supervisor) phases(within time.Duration) []Phase {
	intakes := s.every(func(spec Spec) bool { return spec.Intake })
	stores := s.every(func(spec Spec) bool { return spec.Store })
	if len(intakes)+len(stores) == 0 {
		return nil
	}
	list := []Phase{
		s.phase(PhaseIntake, within*intakeShare/8, func(over <-chan struct{}) []string {
			return askAll(intakes, over, func(done func()) any { return &CloseIntake{Done: done} })
		}),
		s.phase(PhaseMail, within*mailShare/8, s.drainMail),
		s.phase(PhaseFlushed, within*flushShare/8, func(over <-chan struct{}) []string {
			return askAll(stores, over, func(done func()) any { return &Flush{Done: done} })
		}),
	}
	for _, p := range list {
		if len(p.Late) > 0 {
			s.log.Warn("a phase of the stop was not over in time", "phase", p.Name, "actor", p.Late)
		}
	}
	return list
}

// phase runs a part of a Stop; over is closed when its time has passed.
func (s *Supervisor) phase(name string, within time.Duration, do func(over <-chan struct{}) []string) Phase {
	over := make(chan struct{})
	stop := s.opt.Clock.AfterFunc(within, func() { close(over) })
	defer stop()
	began := s.opt.Clock.Now()
	late := do(over)
	return Phase{Name: name, Took: s.opt.Clock.Now().Sub(began), Late: late}
}

// every lists the children in the tree whose Spec satisfies is.
func (s *Supervisor) every(is func(Spec) bool) (found []*Ref) {
	for _, ref := range s.children() {
		if is(ref.spec) {
			found = append(found, ref)
		}
		if t := ref.tree.Load(); t != nil {
			found = append(found, t.every(is)...)
		}
	}
	return found
}

// askAll sends each actor its message and waits until all have finished. It returns the paths of those that have not.
// It does not wait for a dead actor, because nothing is restarted any more.
func askAll(refs []*Ref, over <-chan struct{}, message func(done func()) any) (late []string) {
	done := make([]chan struct{}, len(refs))
	for i, ref := range refs {
		done[i] = make(chan struct{})
		ref.Send(message(sync.OnceFunc(func() { close(done[i]) })))
	}
	tick := time.NewTicker(quietEvery)
	defer tick.Stop()
	for i, ref := range refs {
		for waits := true; waits; {
			select {
			case <-done[i]:
				waits = false
			case <-tick.C:
				waits = ref.inbox.cur.Load() != nil
			case <-over:
				waits = false
				if !isClosed(done[i]) {
					late = append(late, ref.path)
				}
			}
		}
	}
	return late
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// drainMail waits until no living actor has a message, waiting or being handled, and no new message came between two
// looks. It returns the paths of the actors that still have messages.
func (s *Supervisor) drainMail(over <-chan struct{}) []string {
	tick := time.NewTicker(quietEvery)
	defer tick.Stop()
	before := ^uint64(0)
	for {
		received, busy := s.look()
		if len(busy) == 0 && received == before {
			return nil
		}
		before = received
		select {
		case <-tick.C:
		case <-over:
			return busy
		}
	}
}

// look counts the received messages in the tree and lists the living actors that have messages.
func (s *Supervisor) look() (received uint64, busy []string) {
	for _, ref := range s.children() {
		received += ref.inbox.received()
		if m := ref.inbox.cur.Load(); m != nil && (ref.inbox.depth() > 0 || !m.still()) {
			busy = append(busy, ref.path)
		}
		if t := ref.tree.Load(); t != nil {
			n, some := t.look()
			received, busy = received+n, append(busy, some...)
		}
	}
	return received, busy
}
