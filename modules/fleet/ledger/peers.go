package ledger

import "sync"

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
	maxPeers  = 1 << 18 // ids that are remembered
	maxClaims = 1 << 13 // and ids without an accepted key: anybody may claim any
	changes   = 4       // the last connections and disconnections of a peer
)

// Peer is what a master knows of a minion beside its jobs.
type Peer struct {
	Up     int   // subscriptions that are certainly its own, now
	Linked bool  // it has made such a subscription since its last sign-in: it has a connection only while it has one
	Brine  bool  // its program is brine, as far as is known since its last sign-in
	Heard  Stamp // its last request that was authentic
	Speaks int   // version of the protocol of that
	Offset int64 // of its clock, in microseconds to add to its stamps
	Timed  bool  // Offset is known

	JobAt          Stamp // its last return, and of what
	JobJID, JobFun string

	SignedAt  Stamp  // its last sign-in
	SignAct   string // what came of it, in Salt's words: accept, pend, reject, denied, full; "" refused before that
	SignWhy   Reason
	RefusedAt Stamp  // its last request that was refused
	RefusedAs Reason // with a code of its kind, made where it was refused
	ClaimedAt Stamp  // the last request in its name that was refused, and may be anybody's
	ClaimedAs Reason
	Denied    *Denials // what it was not allowed; nil: nothing

	history [changes]change // the newest first
	links   []*subscribed
}

// change is one connection or disconnection.
type change struct {
	at Stamp
	up bool
}

// Peers are the minions as a master meets them on its ports. What somebody without a key says of an id is kept apart
// from what is known of minions: there can be any amount of it.
type Peers struct {
	// Accepted tells whether an id has an accepted key; nil: all have. It is set before the first use.
	Accepted func(id string) bool

	mu     sync.Mutex
	byID   map[string]*Peer
	claims map[string]*Peer // ids without an accepted key
	begun  Stamp            // before it nothing is known

	conns    map[uint64]connection // connections to the publish port
	open     int                   // those that have not ended
	vouched  map[uint64]int        // those with subscriptions that are certainly a minion's own, and how many
	nameless int                   // open ones without

	// Periods in which there was a connection of which nobody knows whose it is.
	first Stamp // began the first; 0: there was none
	since Stamp // began the one that lasts; 0: none does
	until Stamp // ended the last
}

// blink is how long a minion may take from its connection to the subscription that shows whose it is, in microseconds.
const blink = 50_000

func (p *Peers) init() {
	p.byID, p.claims = map[string]*Peer{}, map[string]*Peer{}
	p.conns, p.vouched = map[uint64]connection{}, map[uint64]int{}
}

// Start says from when on connections and subscriptions are seen.
func (p *Peers) Start(now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun, p.open, p.nameless, p.first, p.since, p.until = now, 0, 0, 0, 0, 0
	clear(p.conns)
	clear(p.vouched)
	for id, peer := range p.byID {
		peer.Up, peer.Linked, peer.links, peer.history = 0, false, nil, [changes]change{}
		if peer.SignedAt == 0 && peer.RefusedAt == 0 && peer.ClaimedAt == 0 && !peer.Brine && peer.Denied == nil {
			delete(p.byID, id)
		}
	}
}

// SignedIn notes the outcome of a sign-in. Who signs in may be another program than before.
func (p *Peers) SignedIn(id, act string, why Reason, now Stamp) {
	known := p.known(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.claim(id, known)
	peer.SignedAt, peer.SignAct, peer.SignWhy = now, act, why
	if act == signedIn {
		peer.Linked, peer.Brine = peer.Up > 0, peer.Up > 0
	}
}

// signedIn is the outcome of a sign-in that gives a session.
const signedIn = "accept"

// Refused notes a request that was refused. One that is not proven to be of id is somebody's claim.
func (p *Peers) Refused(id string, why Reason, proven bool, now Stamp) {
	known := p.known(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.claim(id, known)
	if proven {
		peer.RefusedAt, peer.RefusedAs = now, why
	} else {
		peer.ClaimedAt, peer.ClaimedAs = now, why
	}
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
// time, so the least of several offsets counts. It returns the offset. Only brine's minions tell their time.
func (p *Peers) Clock(id string, sent, now Stamp) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	peer.Brine = true
	offset := int64(now - sent)
	if !peer.Timed || offset < peer.Offset || offset > peer.Offset+skew {
		peer.Offset, peer.Timed = offset, true
	}
	return peer.Offset
}

// known tells whether there can be facts about an id.
func (p *Peers) known(id string) bool { return p.Accepted == nil || p.Accepted(id) }

// claim finds or makes what is noted of an id that nobody vouches for.
func (p *Peers) claim(id string, known bool) *Peer {
	if known || p.byID[id] != nil {
		return p.get(id)
	}
	peer := p.claims[id]
	if peer == nil {
		peer = &Peer{}
		put(p.claims, maxClaims, id, peer, func(*Peer) bool { return true })
	}
	return peer
}

// get finds or makes a peer.
func (p *Peers) get(id string) *Peer {
	peer := p.byID[id]
	if peer != nil {
		return peer
	}
	if peer = p.claims[id]; peer != nil {
		delete(p.claims, id)
	} else {
		peer = &Peer{}
	}
	put(p.byID, maxPeers, id, peer, func(o *Peer) bool { return len(o.links) == 0 })
	return peer
}

// put keeps a peer. When there are too many, another is forgotten that may be.
func put(in map[string]*Peer, most int, id string, peer *Peer, mayGo func(*Peer) bool) {
	if len(in) >= most {
		for other, o := range in {
			if mayGo(o) {
				delete(in, other)
				break
			}
		}
	}
	if len(in) < most {
		in[id] = peer
	}
}

// Get copies what is known of an id.
func (p *Peers) Get(id string) Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.byID[id]
	if peer == nil {
		peer = p.claims[id]
	}
	if peer == nil {
		return Peer{}
	}
	one := *peer
	if one.Denied != nil {
		denied := *one.Denied
		one.Denied = &denied
	}
	return one
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
	if peer == nil || peer.history[0].at == 0 {
		return p.without(at)
	}
	state := peer.at(at)
	if state == LinkDown && !peer.Linked { // it may be another program by now
		return p.without(at)
	}
	return state
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

// without is the state of a minion that has no subscription which is certainly its own: it had no connection when the
// master knew of each connection whose it was.
func (p *Peers) without(at Stamp) State {
	first := p.first
	if first == 0 {
		first = p.since
	}
	if first == 0 || at+blink < first || p.since == 0 && at > p.until {
		return LinkDown
	}
	return LinkUnknown
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
		quiet := p.since == 0 && p.until < at
		if peer := p.byID[id]; peer != nil && peer.Linked {
			quiet = peer.history[0].at < at
		}
		if quiet {
			gone = append(gone, id)
		}
	}
	return gone
}
