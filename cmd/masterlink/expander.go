package masterlink

import (
	"brine/cmd/session"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/matchers"
)

// Expander makes an expander that computes targets from the files of the master.
func Expander(s *session.Session) *matchers.Expander {
	return &matchers.Expander{Source: masterFiles{keys.OpenStore(s.Master), Cache(s)}, Nodegroups: s.Master.Nodegroups,
		DataCache: s.Master.MinionDataCache}
}

// masterFiles reads the keys and the cached data of a master on this machine, for targets.
type masterFiles struct {
	keys *keys.Store
	*datacache.Banks
}

// Accepted lists the ids with an accepted key.
func (f masterFiles) Accepted() ([]string, error) { return f.keys.IDs(keys.Accepted) }
