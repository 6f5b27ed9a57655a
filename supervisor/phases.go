package supervisor

import (
	"sync"
	"time"
)

// Messages of a Stop, for the actors whose Spec asks for them. Done is called once, from any goroutine, when it is
// done; an actor that is lost meanwhile holds up nothing.
type (
	// CloseIntake asks for nothing more to be taken from outside. What has been taken is still worked on, and
	// answered, so the socket stays open.
	CloseIntake struct{ Done func() }
	// Flush asks for what the actor holds to be put where it belongs, such as on disk.
	Flush struct{ Done func() }
)

// Lost ends the wait.
func (m *CloseIntake) Lost(error) { m.Done() }

// Lost ends the wait.
func (m *Flush) Lost(error) { m.Done() }

// Phase is a part of a Stop that comes before the actors are stopped.
type Phase struct {
	Name string
	Took time.Duration
	Late []string // paths of those that were not done in time
}

// Names of the phases, in their order.
const (
	PhaseIntake  = "intake closed"
	PhaseMail    = "mailboxes drained"
	PhaseFlushed = "stores flushed"
)

// Shares of the time of a Stop that the phases may take, in eighths. At least half is left for the actors.
const (
	intakeShare = 1
	mailShare   = 2
	flushShare  = 1
)

// quietEvery is how often the mailboxes are looked at while they are drained, in real time.
const quietEvery = time.Millisecond

// phases closes the intake, lets the actors work off what they have, and has it stored. A tree without an intake and
// without a store has none.
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

// phase does a part of a Stop; over is closed when its time is.
func (s *Supervisor) phase(name string, within time.Duration, do func(over <-chan struct{}) []string) Phase {
	over := make(chan struct{})
	stop := s.opt.Clock.AfterFunc(within, func() { close(over) })
	defer stop()
	began := s.opt.Clock.Now()
	late := do(over)
	return Phase{Name: name, Took: s.opt.Clock.Now().Sub(began), Late: late}
}

// every lists the children in the tree whose Spec says so.
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

// askAll sends each its message and waits until all are done. It returns the paths of those that are not. Who is dead
// is not waited for: nothing is restarted any more.
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

// drainMail waits until no living actor has a message, in hand or waiting, in two looks between which none came
// either. It returns the paths of those that still have.
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

// look counts the messages received in the tree and names the living actors that have some.
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
