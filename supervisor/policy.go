package supervisor

import "time"

// The life of one child as a pure state machine: next takes a state and an event, and returns the new state and the
// effects. The core actor supplies the events and carries out the effects. All decisions are here, except the order of
// a shutdown (see shutdown.go).

// A death before the age of quickDeath counts as quick. The first quickFree quick deaths in a row cause no delay, the
// next one firstDelay, and each further one twice as much.
const (
	quickDeath = time.Second
	quickFree  = 3
	firstDelay = 2 * time.Millisecond
)

type phase uint8

const (
	down      phase = iota // not running: new, or dead with restarting off, or its tree is halted
	up                     // an incarnation lives
	draining               // told to end: its subtree is stopping, the actor still works
	stopping               // context cancelled, Stop sent
	releasing              // the actor has ended, but not all of its goroutines and its subtree
	waiting                // dead, to be restarted after the back-off
	gone                   // removed
)

// sequel is the consequence of an incarnation's end.
type sequel uint8

const (
	respawn sequel = iota // ProcessManager's rule: a new incarnation
	again                 // a requested restart: at once, without back-off
	rest                  // stay down until the tree is revived
	remove                // the work is done or the tree is stopped: remove the child
)

type life struct {
	phase phase
	n     int       // incarnation, 0 before the first one
	quick int       // quick deaths in a row
	born  time.Time // of incarnation n
	next  sequel
	delay time.Duration // back-off that the last death caused
}

// working tells whether the actor of incarnation n is not known to have ended.
func (l life) working() bool { return l.phase == up || l.phase == draining || l.phase == stopping }

// env is the environment of a decision.
type env struct {
	now        time.Time
	restarting bool // false after stop_restarting
	delayMax   time.Duration
}

type eventKind uint8

const (
	evAdd        eventKind = iota // added, or its tree is revived
	evTerminated                  // incarnation n has ended
	evMissing                     // the sweep found no process for incarnation n
	evDrained                     // the subtree of incarnation n is down
	evReleased                    // goroutines and subtree of incarnation n have ended
	evTimer                       // the back-off after incarnation n has passed
	evGiveUp                      // the time for incarnation n to end has passed
	evDone                        // the child has finished its work
	evRestart                     // an operator requests a new incarnation
	evHalt                        // the tree stops, to be revived
	evStop                        // the tree stops for good
	evKill                        // this incarnation must end, and the usual rule follows
	evHung                        // a handler of incarnation n has run for too long
)

type event struct {
	kind eventKind
	n    int
}

type effectKind uint8

const (
	doSpawn    effectKind = iota // start incarnation n
	doDrain                      // stop the subtree of n, answer with evDrained
	doCancel                     // cancel the context of n
	doStop                       // send Stop to n
	doRelease                    // wait for goroutines and subtree of n, answer with evReleased
	doBury                       // record and log the death of n
	doDelay                      // answer with evTimer after delay
	doUndelay                    // stop that timer
	doPatience                   // answer with evGiveUp after the child's StopTimeout
	doAbandon                    // n did not end: take its mailbox away, report it
	doReplace                    // the same for n's handler, while its goroutines and subtree may still end
	doForget                     // close the mailbox, remove the child from the map
	doStray                      // a death of no living incarnation: log, count
)

type effect struct {
	kind  effectKind
	n     int
	delay time.Duration
}

func next(l life, e event, v env) (life, []effect) {
	switch e.kind {
	case evAdd:
		if l.phase != down || l.n > 0 && !v.restarting { // a first start is not a restart
			return l, nil
		}
		return spawn(l, v)
	case evTerminated, evMissing:
		return ended(l, e, v)
	case evDrained:
		if l.phase != draining || e.n != l.n {
			return l, nil
		}
		l.phase = stopping
		return l, []effect{{kind: doCancel, n: l.n}, {kind: doStop, n: l.n}}
	case evReleased:
		if l.phase != releasing || e.n != l.n {
			return l, nil
		}
		return settle(l, v)
	case evTimer:
		if l.phase != waiting || e.n != l.n {
			return l, nil
		}
		if !v.restarting {
			l.phase = down
			return l, nil
		}
		return spawn(l, v)
	case evGiveUp:
		return giveUp(l, e, v)
	case evDone, evStop:
		return asked(l, remove, v)
	case evHalt:
		return asked(l, rest, v)
	case evKill:
		if l.phase != up {
			return l, nil
		}
		return asked(l, respawn, v)
	case evHung:
		return replaced(l, e, v)
	case evRestart:
		if !v.restarting {
			return l, nil
		}
		return asked(l, again, v)
	}
	return l, nil
}

func spawn(l life, v env) (life, []effect) {
	l.phase, l.next, l.born = up, respawn, v.now
	l.n++
	return l, []effect{{kind: doSpawn, n: l.n}}
}

// ended handles the news that the actor of an incarnation has ended, for any reason.
func ended(l life, e event, v env) (life, []effect) {
	if e.n != l.n || !l.working() {
		return l, []effect{{kind: doStray, n: e.n}}
	}
	l.quick, l.delay = backOff(l, v)
	l.phase = releasing
	return l, []effect{
		{kind: doCancel, n: l.n}, {kind: doBury, n: l.n, delay: l.delay},
		{kind: doRelease, n: l.n}, {kind: doPatience, n: l.n},
	}
}

// replaced leaves a handler behind that does not return. Its actor counts as dead, but its socket and its subtree do
// not: the next incarnation waits for them as after any death.
func replaced(l life, e event, v env) (life, []effect) {
	if !l.working() || e.n != l.n {
		return l, nil
	}
	l.quick, l.delay = backOff(l, v)
	l.phase = releasing
	return l, []effect{
		{kind: doCancel, n: l.n}, {kind: doStop, n: l.n}, {kind: doReplace, n: l.n},
		{kind: doBury, n: l.n, delay: l.delay}, {kind: doRelease, n: l.n}, {kind: doPatience, n: l.n},
	}
}

// backOff counts quick deaths and returns the delay. An end that was requested is not a quick death.
func backOff(l life, v env) (quick int, delay time.Duration) {
	if v.now.Sub(l.born) >= quickDeath {
		return 0, 0
	}
	if l.next != respawn {
		return l.quick, 0
	}
	quick = l.quick + 1
	if quick <= quickFree {
		return quick, 0
	}
	delay = v.delayMax
	if shift := quick - quickFree - 1; shift < 32 && firstDelay<<shift < v.delayMax {
		delay = firstDelay << shift
	}
	return quick, delay
}

// settle decides what follows when nothing of the last incarnation is left.
func settle(l life, v env) (life, []effect) {
	switch {
	case l.next == remove:
		l.phase = gone
		return l, []effect{{kind: doForget, n: l.n}}
	case l.next == rest || !v.restarting:
		l.phase = down
		return l, nil
	case l.next == respawn && l.delay > 0:
		l.phase = waiting
		return l, []effect{{kind: doDelay, n: l.n, delay: l.delay}}
	}
	return spawn(l, v)
}

// asked handles a request to end: want says what follows.
func asked(l life, want sequel, v env) (life, []effect) {
	switch l.phase {
	case gone:
		return l, nil
	case up:
		l.next, l.phase = want, draining
		return l, []effect{{kind: doPatience, n: l.n}, {kind: doDrain, n: l.n}}
	case down, waiting:
		var effects []effect
		if l.phase == waiting {
			effects = append(effects, effect{kind: doUndelay, n: l.n})
		}
		l.next, l.delay = max(l.next, want), 0
		l, more := settle(l, v)
		return l, append(effects, more...)
	default: // it is already ending: only the sequel changes, and never back from remove
		l.next = max(l.next, want)
		return l, nil
	}
}

// giveUp ends the wait for an incarnation. Go cannot kill a goroutine, so the goroutine is left behind.
func giveUp(l life, e event, v env) (life, []effect) {
	if e.n != l.n {
		return l, nil
	}
	var effects []effect
	switch l.phase {
	case draining:
		effects = []effect{{kind: doCancel, n: l.n}, {kind: doStop, n: l.n}, {kind: doAbandon, n: l.n},
			{kind: doBury, n: l.n}}
	case stopping:
		effects = []effect{{kind: doAbandon, n: l.n}, {kind: doBury, n: l.n}}
	case releasing:
		effects = []effect{{kind: doAbandon, n: l.n}}
	default:
		return l, nil
	}
	l, more := settle(l, v)
	return l, append(effects, more...)
}
