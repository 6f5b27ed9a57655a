package ledger

import (
	"net"
	"slices"
)

// subscribed is a topic by which the master knows a minion, while somebody is subscribed to it.
type subscribed struct {
	topic string
	ours  bool     // the key of the minion is still the one that the topic was made for
	n     int      // connections that hold it
	conns []uint64 // those that have said so, the oldest first; some may have ended without n being told yet
}

// connection is one to the publish port. One that has ended is kept while subscriptions are counted as its own: it may
// come again, for the socket's events and its subscriptions come by two ways.
type connection struct {
	addr string
	open bool
}

// Connection notes that a connection to the publish port was made, or has ended, whoever made it.
func (p *Peers) Connection(conn uint64, addr string, up bool, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, was := p.isNameless(conn), p.conns[conn].open
	switch {
	case up:
		p.conns[conn] = connection{addr, true}
	case p.vouched[conn] > 0:
		p.conns[conn] = connection{addr, false}
	default:
		delete(p.conns, conn)
	}
	if was != up {
		p.open += step(up)
	}
	p.recount(conn, before, now)
}

func step(up bool) int {
	if up {
		return 1
	}
	return -1
}

// Connections is how many connections to the publish port there are, whoever made them.
func (p *Peers) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// Holds tells whether a topic is known to be an id's own, and somebody is subscribed to it.
func (p *Peers) Holds(id, topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, link := p.link(id, topic)
	return link != nil && link.ours
}

func (p *Peers) link(id, topic string) (*Peer, *subscribed) {
	peer := p.byID[id]
	if peer == nil {
		return nil, nil
	}
	for _, l := range peer.links {
		if l.topic == topic {
			return peer, l
		}
	}
	return peer, nil
}

// Subscribed notes that a connection has subscribed to a topic that only the minion of an id can know.
func (p *Peers) Subscribed(id, topic string, conn uint64, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, l := p.link(id, topic)
	peer := p.get(id)
	if l == nil {
		l = &subscribed{topic: topic}
		peer.links = append(slices.Clip(peer.links), l)
	}
	if !l.ours {
		l.ours = true
		p.vouchAll(l, 1, now)
	}
	l.n++
	l.conns = append(l.conns, conn)
	peer.Linked, peer.Brine = true, true
	p.vouch(conn, 1, now)
	p.prune(l, now)
	peer.count(now)
}

// prune forgets connections of a topic that have ended, when there are more of them than it is held by.
func (p *Peers) prune(l *subscribed, now Stamp) {
	for i := 0; i < len(l.conns) && len(l.conns) > l.n; {
		c, known := p.conns[l.conns[i]]
		if !known || c.open { // of one that is not known the event is still to come
			i++
			continue
		}
		if l.ours {
			p.vouch(l.conns[i], -1, now)
		}
		l.conns = slices.Delete(l.conns, i, i+1)
	}
}

// Unsubscribed notes that a connection has ended a subscription, or with conn 0 that its own end has done so. Who says
// that without having made it has no say in it. It tells whether there was such a subscription.
func (p *Peers) Unsubscribed(id, topic string, conn uint64, now Stamp) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer, l := p.link(id, topic)
	if l == nil {
		return false
	}
	if conn != 0 {
		i := slices.Index(l.conns, conn)
		if i < 0 {
			return false
		}
		l.conns = slices.Delete(l.conns, i, i+1)
		if l.ours {
			p.vouch(conn, -1, now)
		}
	}
	if l.n--; l.n == 0 {
		if l.ours {
			p.vouchAll(l, -1, now)
		}
		peer.links = slices.DeleteFunc(slices.Clone(peer.links), func(o *subscribed) bool { return o == l })
	}
	p.prune(l, now)
	peer.count(now)
	return true
}

// Relink looks anew whose the topics of an id are, when its key may be another one.
func (p *Peers) Relink(id string, own func(topic string) bool, now Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.byID[id]
	if peer == nil {
		return
	}
	for _, l := range peer.links {
		ours := own(l.topic)
		if ours == l.ours {
			continue
		}
		if l.ours = ours; ours {
			p.vouchAll(l, 1, now)
		} else {
			p.vouchAll(l, -1, now)
		}
	}
	peer.count(now)
	if peer.Up > 0 {
		peer.Linked, peer.Brine = true, true
	}
}

// count notes how many subscriptions a peer has.
func (p *Peer) count(now Stamp) {
	n := 0
	for _, l := range p.links {
		if l.ours {
			n += l.n
		}
	}
	if up := n > 0; up != (p.Up > 0) {
		copy(p.history[1:], p.history[:])
		p.history[0] = change{now, up}
	}
	p.Up = n
}

// vouch notes that a connection has one more subscription, or one less, that shows whose it is.
func (p *Peers) vouch(conn uint64, by int, now Stamp) {
	before := p.isNameless(conn)
	if p.vouched[conn] += by; p.vouched[conn] <= 0 {
		delete(p.vouched, conn)
		if c, known := p.conns[conn]; known && !c.open {
			delete(p.conns, conn)
		}
	}
	p.recount(conn, before, now)
}

func (p *Peers) vouchAll(l *subscribed, by int, now Stamp) {
	for _, c := range l.conns {
		p.vouch(c, by, now)
	}
}

func (p *Peers) isNameless(conn uint64) bool {
	return p.conns[conn].open && p.vouched[conn] == 0
}

// recount notes when there are connections of which nobody knows whose they are.
func (p *Peers) recount(conn uint64, before bool, now Stamp) {
	switch after := p.isNameless(conn); {
	case after == before:
		return
	case after:
		if p.nameless++; p.since == 0 {
			p.since = now
		}
		return
	}
	if p.nameless--; p.nameless > 0 {
		return
	}
	if now-p.since > blink {
		if p.until = now; p.first == 0 {
			p.first = p.since
		}
	}
	p.since = 0
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

// Up maps the ids of those who are certainly connected to the addresses they are connected from.
func (p *Peers) Up() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	up := map[string]string{}
	for id, peer := range p.byID {
		if peer.Up > 0 {
			up[id] = p.address(peer)
		}
	}
	return up
}

// address is where a peer is connected from, "" when that is not known.
func (p *Peers) address(peer *Peer) string {
	for _, l := range peer.links {
		for _, c := range l.conns {
			if host, _, err := net.SplitHostPort(p.conns[c].addr); err == nil && l.ours {
				return host
			}
		}
	}
	return ""
}
