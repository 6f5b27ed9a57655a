package stats

import "sync/atomic"

// Loss is a kind of dead letter: why no incarnation handled a message to its end.
type Loss uint8

// The kinds, in the order of their names in Child.DeadLetters.
const (
	LossCrashed     Loss = iota // in hand when the actor died of it
	LossDropped                 // waiting when an actor died that keeps nothing
	LossGone                    // waiting when the child went for good, or sent later
	LossFull                    // refused, the mailbox was full
	LossAbandoned               // in hand when the actor hung and was abandoned
	LossUnhandled               // the actor has no case for it
	LossQuarantined             // it has killed the actor twice
	lossKinds
)

var lossNames = [lossKinds]string{"crashed", "dropped", "gone", "full", "abandoned", "unhandled", "quarantined"}

// LossNames are the names of all kinds.
func LossNames() []string { return append([]string(nil), lossNames[:]...) }

// Losses counts dead letters by kind.
type Losses [lossKinds]atomic.Uint64

// Count is the number of one kind.
func (l *Losses) Count(kind Loss) uint64 { return l[kind].Load() }

// Total is the number of all kinds.
func (l *Losses) Total() (n uint64) {
	for i := range l {
		n += l[i].Load()
	}
	return n
}

// ByName are the numbers that are not 0.
func (l *Losses) ByName() map[string]uint64 {
	m := make(map[string]uint64)
	for i := range l {
		if n := l[i].Load(); n > 0 {
			m[lossNames[i]] = n
		}
	}
	return m
}
