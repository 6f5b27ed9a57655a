package crypt

import (
	"runtime"
	"sync"
)

// Pairs seals large boxes, two at a time if two are waiting: side by side, two take as long as one. A goroutine that
// comes while others seal waits for its turn, and then seals its own box together with the next waiting one. Any number
// of goroutines may use it.
type Pairs struct {
	most int // how many may seal at a time

	mu      sync.Mutex
	sealing int
	waiting []*unsealed
}

// unsealed is a box whose text is ready, and the state of its MAC.
type unsealed struct {
	key  []byte
	box  []byte // without the bytes of the MAC
	sum  laneSum
	turn chan *unsealed // receives the turn, with another box to seal or nil; closed: another goroutine has sealed the box
}

// NewPairs lets half of the processors seal at a time, but at least one. The others have enough work with the sealed
// boxes.
func NewPairs() *Pairs { return &Pairs{most: max(1, runtime.GOMAXPROCS(0)/2)} }

// seal encrypts a box, and advances the state of its MAC to the last whole block.
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

// begin tells whether the box may be sealed at once.
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

// next gives the turn to the goroutine that has waited longest.
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
