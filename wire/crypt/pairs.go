package crypt

import (
	"runtime"
	"sync"
)

// Pairs seals large boxes, two at a time where two are there: a processor that seals two side by side takes as long as
// for one. Who comes while others seal waits for them to end, and then seals with the next one who waits. Any number of
// goroutines may use it.
type Pairs struct {
	most int // who may seal at a time

	mu      sync.Mutex
	sealing int
	waiting []*unsealed
}

// unsealed is a box whose text is ready, with the state of its MAC.
type unsealed struct {
	key  []byte
	box  []byte // without the room for the MAC
	sum  laneSum
	turn chan *unsealed // the turn has come, together with this one or nil; closed: another one has sealed it
}

// NewPairs lets half of the processors seal at a time, and one at least: on the others is enough to do with what was
// sealed.
func NewPairs() *Pairs { return &Pairs{most: max(1, runtime.GOMAXPROCS(0)/2)} }

// seal encrypts a box, and brings the state of its MAC to the last whole block.
func (p *Pairs) seal(u *unsealed) {
	if p == nil {
		sealOne(u)
		return
	}
	if !p.begin(u) {
		other, mine := <-u.turn
		if !mine {
			return
		}
		if other != nil {
			sealTwo(u, other)
			close(other.turn)
			p.next()
			return
		}
	}
	sealOne(u)
	p.next()
}

// begin tells whether the turn is there at once.
func (p *Pairs) begin(u *unsealed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sealing < p.most {
		p.sealing++
		return true
	}
	u.turn = make(chan *unsealed, 1)
	p.waiting = append(p.waiting, u)
	return false
}

// next gives the turn to who has waited longest.
func (p *Pairs) next() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch w := p.waiting; {
	case len(w) == 0:
		p.sealing--
	case len(w) == 1:
		w[0].turn <- nil
		p.waiting = nil
	default:
		w[0].turn <- w[1]
		p.waiting = w[2:]
	}
}
