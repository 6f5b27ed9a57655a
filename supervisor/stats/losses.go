package stats

import "sync/atomic"

// Loss is a kind of dead letter: the reason why no incarnation finished handling a message.
type Loss uint8

// The kinds, in the order of their names in Child.DeadLetters.
const (
	LossCrashed     Loss = iota // being handled when it killed the actor
	LossDropped                 // waiting when an actor died that keeps no messages
	LossGone                    // waiting when the child went for good, or sent later
	LossFull                    // refused, because the mailbox was full
	LossAbandoned               // being handled when the actor hung and was abandoned
	LossUnhandled               // the actor has no case for it
	LossQuarantined             // it has killed the actor twice
	lossKinds
)

var lossNames = [lossKinds]string{"crashed", "dropped", "gone", "full", "abandoned", "unhandled", "quarantined"}

// LossNames are the names of all kinds.
func LossNames() []string { return append([]string(nil), lossNames[:]...) }

// Losses counts dead letters by kind.
type Losses [lossKinds]atomic.Uint64

// Count is the number for one kind.
func (l *Losses) Count(kind Loss) uint64 { return l[kind].Load() }

// Total is the number for all kinds.
func (l *Losses) Total() (n uint64) {
	for i := range l {
		n += l[i].Load()
	}
	return n
}

// ByName are the numbers other than 0.
func (l *Losses) ByName() map[string]uint64 {
	m := make(map[string]uint64)
	for i := range l {
		if n := l[i].Load(); n > 0 {
			m[lossNames[i]] = n
		}
	}
	return m
}
