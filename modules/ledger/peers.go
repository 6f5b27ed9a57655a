package ledger

import (
	"crypto/sha1"
	"encoding/hex"
	"sync"
)

// State says whether a minion was connected to the publish port.
type State int64

// The states.
const (
	LinkUnknown State = iota // nothing tells
	LinkDown                 // it certainly had no connection: a publication cannot have reached it
	LinkUp                   // it had one, as far as the network tells
)

// String is the state in the JSON that operators get.
func (s State) String() string {
	switch s {
	case LinkDown:
		return "no"
	case LinkUp:
		return "yes"
	}
	return "unknown"
}

const (
	maxPeers = 1 << 16 // ids that are remembered
	changes  = 4       // the last connections and disconnections of a peer
)

// Peer is what a master knows of a minion beside its jobs.
type Peer struct {
	Up     int   // subscriptions that name it, now
	Brine  bool  // it has made such a subscription since its last sign-in
	Heard  Stamp // its last request that was authentic
	Speaks int   // version of the protocol of that
	Offset int64 // of its clock, in microseconds to add to its stamps
	Timed  bool  // Offset is known

	JobAt          Stamp // its last return, and of what
	JobJID, JobFun string

	SignedAt  Stamp  // its last sign-in
	SignAct   string // what came of it, in Salt's words: accept, pend, reject, denied, full; "" refused before that
	SignWhy   string
	RefusedAt Stamp // its last request that was refused
	RefusedAs string
	Denied    *Denials // what it was not allowed; nil: nothing

	history [changes]change // the newest first
}

// change is one connection or disconnection.
type change struct {
	at Stamp
	up bool
}

// Peers are the minions as a master meets them on its ports.
type Peers struct {
	mu     sync.Mutex
	byID   map[string]*Peer
	begun  Stamp // before it nothing is known
	named  int   // subscriptions that name an id
	all    int   // subscriptions of everything
	hashed bool  // there were subscriptions of the hash of an id

	// Periods in which somebody was subscribed who has no name.
	first Stamp // began the first; 0: there was none
	since Stamp // began the one that lasts; 0: none does
	until Stamp // ended the last
}

// blink is how long a minion may take from its first subscription to the one that names it, in microseconds.
const blink = 50_000

func (p *Peers) init() { p.byID = map[string]*Peer{} }

// Start says from when on subscriptions are seen.
func (p *Peers) Start(now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun, p.named, p.all, p.first, p.since, p.until = now, 0, 0, 0, 0, 0
	for id, peer := range p.byID {
		peer.Up, peer.Brine, peer.history = 0, false, [changes]change{}
		if peer.SignedAt == 0 && peer.RefusedAt == 0 && peer.Denied == nil {
			delete(p.byID, id)
		}
	}
}

// Named notes how many subscriptions name an id now.
func (p *Peers) Named(id string, n int, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	if n > 0 {
		peer.Brine = true
	}
	p.named += n - peer.Up
	peer.note(n, now)
	p.count(now)
}

// note takes over how many subscriptions of a peer there are.
func (p *Peer) note(n int, now Stamp) {
	if up := n > 0; up != (p.Up > 0) {
		copy(p.history[1:], p.history[:])
		p.history[0] = change{now, up}
	}
	p.Up = n
}

// Hashed notes how many subscriptions there are of the topic of a filtering minion of Salt: the hexadecimal SHA-1 of
// its id (zmq_filtering).
func (p *Peers) Hashed(sum string, n int, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hashed = true
	p.get(hashMark+sum).note(n, now)
}

// hashMark begins the keys of peers that are known by the hash of their ids; no id does.
const hashMark = "\x00"

// Everything notes how many subscriptions take all publications now; minions have one such each.
func (p *Peers) Everything(n int, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = n
	p.count(now)
}

// Subscribers is how many subscriptions take all publications now.
func (p *Peers) Subscribers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// count notes when there are subscribers without a name.
func (p *Peers) count(now Stamp) {
	switch {
	case p.all > p.named:
		if p.since == 0 {
			p.since = now
		}
		return
	case p.since != 0 && now-p.since > blink:
		if p.until = now; p.first == 0 {
			p.first = p.since
		}
	}
	p.since = 0
}

// SignedIn notes the outcome of a sign-in. Who signs in may be another program than before.
func (p *Peers) SignedIn(id, act, why string, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	peer.SignedAt, peer.SignAct, peer.SignWhy = now, act, why
	peer.Brine = peer.Up > 0
	if hashed := p.hash(id); hashed != nil && hashed.Up == 0 {
		delete(p.byID, hashMark+hashOf(id))
	}
}

// Refused notes a request that was refused.
func (p *Peers) Refused(id, why string, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	peer.RefusedAt, peer.RefusedAs = now, why
}

// Met notes an authentic request, and the version of the protocol that it is in.
func (p *Peers) Met(id string, version int, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	peer.Heard, peer.Speaks = now, version
}

// Worked notes the return of a job.
func (p *Peers) Worked(id, jid, fun string, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	peer.JobAt, peer.JobJID, peer.JobFun = now, jid, fun
}

// skew is by how much two measurements of an offset may differ because messages take time, in microseconds.
const skew = 50_000

// Clock notes what a message that a minion made at sent, by its own clock, says about that clock. A message takes some
// time, so the least of several offsets counts. It returns the offset.
func (p *Peers) Clock(id string, sent, now Stamp) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	offset := int64(now - sent)
	if !peer.Timed || offset < peer.Offset || offset > peer.Offset+skew {
		peer.Offset, peer.Timed = offset, true
	}
	return peer.Offset
}

// get finds or makes a peer. Ids come from outside: when there are too many, others are forgotten.
func (p *Peers) get(id string) *Peer {
	peer := p.byID[id]
	if peer != nil {
		return peer
	}
	if len(p.byID) >= maxPeers {
		for other, o := range p.byID {
			if o.Up == 0 {
				delete(p.byID, other)
				break
			}
		}
	}
	peer = &Peer{}
	if len(p.byID) < maxPeers {
		p.byID[id] = peer
	}
	return peer
}

// Get copies what is known of an id.
func (p *Peers) Get(id string) Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.byID[id]; peer != nil {
		one := *peer
		if one.Denied != nil {
			denied := *one.Denied
			one.Denied = &denied
		}
		return one
	}
	return Peer{}
}

// At tells whether a minion was connected at a moment.
func (p *Peers) At(id string, at Stamp) State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(id, at)
}

func (p *Peers) at(id string, at Stamp) State {
	if at == 0 || at < p.begun || p.begun == 0 {
		return LinkUnknown
	}
	peer := p.byID[id]
	if peer == nil || !peer.Brine { // with none of its own, or none any more
		if hashed := p.hash(id); hashed != nil {
			return hashed.at(at)
		}
		if peer == nil || peer.history[0].at == 0 {
			return p.nameless(at)
		}
	}
	state := peer.at(at)
	if state == LinkDown && !peer.Brine {
		return p.nameless(at)
	}
	return state
}

// hash is what is known of a minion by the hash of its id; nil: nothing.
func (p *Peers) hash(id string) *Peer {
	if !p.hashed {
		return nil
	}
	return p.byID[hashMark+hashOf(id)]
}

func hashOf(id string) string {
	sum := sha1.Sum([]byte(id))
	return hex.EncodeToString(sum[:])
}

// at is whether a peer had a subscription at a moment.
func (p *Peer) at(at Stamp) State {
	for _, c := range p.history {
		switch {
		case c.at == 0:
			return LinkDown
		case c.at <= at && c.up:
			return LinkUp
		case c.at <= at:
			return LinkDown
		}
	}
	return LinkUnknown // it has come and gone too often since
}

// nameless is the state of a minion whose subscriptions have no name: it had none when nobody had one.
func (p *Peers) nameless(at Stamp) State {
	first := p.first
	if first == 0 {
		first = p.since
	}
	if first == 0 || at+blink < first || p.since == 0 && at > p.until {
		return LinkDown
	}
	return LinkUnknown
}

// Links tells how some minions were connected at a moment.
func (p *Peers) Links(ids []string, at Stamp) *Links {
	p.mu.Lock()
	defer p.mu.Unlock()
	var counts [LinkUp + 1]int
	states := make([]State, len(ids))
	for i, id := range ids {
		states[i] = p.at(id, at)
		counts[states[i]]++
	}
	l := &Links{Other: map[string]State{}}
	for s := range counts {
		if counts[s] > counts[l.Rest] {
			l.Rest = State(s)
		}
	}
	for i, id := range ids {
		if states[i] != l.Rest {
			l.Other[id] = states[i]
		}
	}
	return l
}

// Gone lists those of some minions that had no connection at a moment and have made none since: what was sent then
// cannot have reached them.
func (p *Peers) Gone(ids []string, at Stamp) (gone []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if p.at(id, at) != LinkDown {
			continue
		}
		peer := p.byID[id]
		if peer == nil || !peer.Brine {
			peer = p.hash(id)
		}
		quiet := p.since == 0 && p.until < at // for one of those without a name
		if peer != nil {
			quiet = peer.history[0].at < at
		}
		if quiet {
			gone = append(gone, id)
		}
	}
	return gone
}
