package master

import (
	"fmt"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/zmq"
)

// openPub opens a publish socket whose connections and subscriptions are noted.
func (c *core) openPub(opt zmq.PubOptions) pubSocket {
	peers := &c.book.Peers
	peers.Start(ledger.At(time.Now()))
	opt.Logger = c.log
	opt.OnConnection = func(conn zmq.Connection) { peers.Connection(conn.Conn, conn.Peer, conn.Up, ledger.At(time.Now())) }
	opt.OnSubscription = c.subscribed
	return zmq.NewPub(opt)
}

// subscribed takes what is said on the publish port. Anybody may say anything there: a fact comes only of a topic that
// nobody but the minion of an id was given, and nothing is kept of others. The topics of Salt's minions, too, are known
// to everybody (with zmq_filtering, the hash of an id) and say nothing.
func (c *core) subscribed(s zmq.Subscription) (vouched bool) {
	id := auth.LinkID(s.Topic)
	if id == "" {
		return false
	}
	peers, now := &c.book.Peers, ledger.At(time.Now())
	if !s.Begin {
		return peers.Unsubscribed(id, s.Topic, s.Conn, now)
	}
	if !c.auth.Vouches(s.Topic) {
		return false
	}
	peers.Subscribed(id, s.Topic, s.Conn, now)
	return true
}

// relink looks anew whose the connections of an id are, for its key may be another one by now.
func (c *core) relink(id string) { c.book.Peers.Relink(id, c.auth.Vouches, ledger.At(time.Now())) }

// present maps the ids of minions that are connected to their addresses. What the master knows comes first; of the
// others, Salt's, it goes by the addresses in their grains, as Salt does.
func (c *core) present() (map[string]string, error) {
	found, err := c.presence.Connected()
	if err != nil {
		return nil, fmt.Errorf("presence: %w", err)
	}
	for id := range found {
		if peer := c.book.Peers.Get(id); peer.Linked && peer.Up == 0 {
			delete(found, id)
		}
	}
	for id, addr := range c.book.Peers.Up() {
		if found[id] == "" {
			found[id] = addr
		}
	}
	return found, nil
}

// seen is present as functions of the master see it.
type seen struct{ c *core }

// Connected maps the id of each connected minion to the address it is connected from.
func (s seen) Connected() (map[string]string, error) { return s.c.present() }
