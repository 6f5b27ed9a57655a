// Package attendance knows which minions are connected. A Book owns the last look at the connections. It asks the
// ledger for what minions say on the publish port, and modules/fleet/presence for the addresses of the others.
package attendance

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/modules/fleet/ledger"
	"brine/modules/fleet/presence"
	"brine/wire/auth"
	"brine/wire/transport"
)

// Book knows which minions are connected: by what they say on the publish port, and else by the addresses from
// which there are connections.
type Book struct {
	peers  *ledger.Peers
	finder *presence.Finder
	// vouches tells whether a topic was given to the minion that it names
	vouches func(topic string) bool
	look    atomic.Pointer[presenceLook]
	log     *slog.Logger
}

// New notes the connections in peers. vouches is called once a port is open.
func New(peers *ledger.Peers, finder *presence.Finder, vouches func(topic string) bool,
	log *slog.Logger) *Book {
	return &Book{peers: peers, finder: finder, vouches: vouches, log: log}
}

// presenceLook is who was connected at a moment.
type presenceLook struct {
	at  time.Time
	ids map[string]string
}

// Audience takes the connections and subscriptions of a Publisher that is about to open.
func (a *Book) Audience() transport.Audience {
	a.peers.Start(ledger.At(time.Now()))
	return transport.Audience{
		Connection: func(conn transport.Connection) {
			a.peers.Connection(conn.Conn, conn.Peer, conn.Up, ledger.At(time.Now()))
		},
		Subscription: a.subscribed,
	}
}

// subscribed takes what is said on the publish port. Anybody may say anything there: a fact comes only of a topic that
// nobody but the minion of an id was given, and nothing is kept of others. The topics of Salt's minions, too, are known
// to everybody (with zmq_filtering, the hash of an id) and say nothing.
func (a *Book) subscribed(s transport.Subscription) (vouched bool) {
	id := auth.LinkID(s.Topic)
	if id == "" {
		return false
	}
	now := ledger.At(time.Now())
	if !s.Begin {
		return a.peers.Unsubscribed(id, s.Topic, s.Conn, now)
	}
	if !a.vouches(s.Topic) {
		return false
	}
	a.peers.Subscribed(id, s.Topic, s.Conn, now)
	return true
}

// Relink looks anew whose the connections of an id are, for its key may be another one by now.
func (a *Book) Relink(id string) { a.peers.Relink(id, a.vouches, ledger.At(time.Now())) }

// Connected maps the ids of minions that are connected to their addresses. What the master knows comes first; of the
// others, Salt's, it goes by the addresses in their grains, as Salt does.
func (a *Book) Connected() (map[string]string, error) {
	found, err := a.finder.Connected()
	if err != nil {
		return nil, fmt.Errorf("presence: %w", err)
	}
	for id := range found {
		if peer := a.peers.Get(id); peer.Linked && peer.Up == 0 {
			delete(found, id)
		}
	}
	for id, addr := range a.peers.Up() {
		if found[id] == "" {
			found[id] = addr
		}
	}
	return found, nil
}

// Count tells how many minions are connected and whether id is one of them (max_minions). One look at the connections
// serves all sign-ins of a second.
func (a *Book) Count(id string) (n int, present bool) {
	look := a.look.Load()
	if now := time.Now(); look == nil || now.Sub(look.at) > time.Second {
		ids, err := a.Connected()
		if err != nil {
			a.log.Error("connected minions are not known", "err", err)
		}
		look = &presenceLook{at: now, ids: ids}
		a.look.Store(look)
	}
	_, present = look.ids[id]
	return len(look.ids), present
}
