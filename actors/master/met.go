package master

import (
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/payload"
)

// met notes an authentic request of a minion.
func (c *core) met(o *auth.Opened) {
	if o.TokenOK {
		if o.Version >= 3 {
			c.proves(o.ID)
		}
		c.book.Peers.Met(o.ID, o.Version, ledger.At(time.Now()))
	}
}

// refused notes a request that could not be opened.
func (c *core) refused(id, why string, proven bool) {
	if auth.ValidID(id) {
		c.book.Peers.Refused(id, why, proven, ledger.At(time.Now()))
	}
}

// claimedID is the id that a sign-in names which was refused before anybody looked at its id.
func claimedID(req *payload.Request) string {
	load, _ := req.Load.(*payload.Map)
	if id := load.Str("id"); auth.ValidID(id) {
		return id
	}
	return ""
}
