package main

import (
	"brine/modules/keys"
	"brine/modules/matchers"
	"brine/modules/returners"
)

// expander works targets out from the files of the master.
func (s *session) expander() *matchers.Expander {
	return &matchers.Expander{Source: masterFiles{keys.OpenStore(s.master), s.cache()}, Nodegroups: s.master.Nodegroups,
		DataCache: s.master.MinionDataCache}
}

// masterFiles are the keys and the cached data of a master on this machine, as targets need them.
type masterFiles struct {
	keys *keys.Store
	*returners.Banks
}

// Accepted lists the ids with an accepted key.
func (f masterFiles) Accepted() ([]string, error) { return f.keys.IDs(keys.Accepted) }
