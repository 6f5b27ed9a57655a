package ledger

import (
	"fmt"
	"time"
)

// byOtherKey tells of a minion whose key is accepted, and which came with another one. One that is connected has the
// right one: somebody else came.
func byOtherKey(c *Case) Reason {
	p := &c.Peer
	const then = "; the minion was installed anew, or another machine has its id: salt-key -d "
	switch {
	case c.Key != "accepted" || c.LinkNow == LinkUp || c.Asked == Answered:
	case p.SignAct == "denied" && p.SignedAt > p.Heard:
		return say(KeyDenied, "the master denied a sign-in in its name ", c.at(p.SignedAt),
			", for the key that came is not the accepted one", then, c.ID, " forgets both keys, then start the minion")
	case c.Denied && c.LinkNow == LinkUnknown && c.Address == LinkDown:
		return say(KeyDenied, "no connection from an address of it is there, and another key than the accepted one "+
			"has come in its name and is denied", then, c.ID, " forgets both keys, then start the minion")
	case c.Denied && c.LinkNow == LinkDown:
		return say(KeyDenied, "it is not connected, and another key than the accepted one has come in its name and "+
			"is denied", then, c.ID, " forgets both keys, then start the minion")
	}
	return Reason{}
}

// weak tells of a minion that the master turned away last because of its key, or of what it has of it.
func (c *Case) weak() Reason {
	p := &c.Peer
	if p.SignAct == "error" && p.SignedAt > p.Heard && p.SignWhy.Code == KeyDamaged {
		return say(KeyDamaged, "it cannot sign in, it tried ", c.at(p.SignedAt), ": ", p.SignWhy.Text,
			"; put that file back, or delete the key and accept the minion anew")
	}
	if p.SignAct != "reject" || p.SignedAt <= p.Heard || p.SignWhy.Code != KeyWeak {
		return Reason{}
	}
	return say(KeyWeak, "the master refused a sign-in in its name ", c.at(p.SignedAt), ": ", p.SignWhy.Text)
}

// byLink tells of a minion that had no connection when the job was sent.
func byLink(c *Case) Reason {
	if c.Link != LinkDown {
		return Reason{}
	}
	text := say(NotConnected, "it was not connected when the job was sent ", c.at(c.sent()))
	switch {
	case c.LinkNow == LinkUp:
		text.Text += "; it is now, but jobs are not sent again: publish it once more"
	case c.halfWay():
		text.Text += "; it signed in " + c.at(c.Peer.SignedAt) + " and has made no connection to the publish port " +
			"since: that port is blocked on the way, " +
			"or the minion does not take this master's key for the one that it knows; its log tells"
	default:
		text.Text += "; it does not get this job any more: start the minion and publish it once more"
	}
	return text
}

// connectsWithin is how long a minion may take from the sign-in to its connection.
const connectsWithin = time.Second

// halfWay tells whether a minion has signed in and not connected since.
func (c *Case) halfWay() bool {
	p := &c.Peer
	return p.SignAct == "accept" && p.SignedAt > p.changed() && c.LinkNow == LinkDown &&
		c.Now.Sub(p.SignedAt) >= connectsWithin
}

// stillHeard tells of a minion that lost only one of its connections.
func (c *Case) stillHeard() string {
	if c.Peer.Heard <= c.Peer.changed() {
		return ""
	}
	return ", though its requests still come (the last one " + c.at(c.Peer.Heard) +
		"): the publish port may be blocked on the way"
}

// twinText tells of several connections that name one id.
func (c *Case) twinText() string {
	if c.Peer.Up < 2 || c.row().Returned != 0 {
		return ""
	}
	return fmt.Sprintf(". %d connections name this id: several minions have it, or an old connection is not given "+
		"up yet", c.Peer.Up)
}
