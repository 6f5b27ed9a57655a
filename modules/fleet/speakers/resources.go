package speakers

import (
	"sync"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/wire/payload"
)

// BankResources keeps for each minion the ids of the resources that it has registered (Salt 3008).
const BankResources = "resources"

// maxResources is how many resources a minion may manage.
const maxResources = 10000

// Resources remember which minion manages which resource. An id has one manager, the first that names it, until that one
// names it no more or loses its key. Its methods may be called by many goroutines.
//
// Unlike Salt: there the last minion that names an id has it, and returns are not compared with that.
type Resources struct {
	Keys  *keys.Store
	Cache *datacache.Banks

	mu     sync.Mutex
	loaded bool
	of     map[string]map[string]bool // minion → ids
	by     map[string]string          // id → minion
	below  map[string]string          // id → syndic, as far as it was looked up; "" for none
}

// load reads the bank, once.
func (s *Resources) load() {
	if s.loaded {
		return
	}
	s.loaded, s.of, s.by = true, map[string]map[string]bool{}, map[string]string{}
	names, err := s.Cache.List(BankResources)
	if err != nil {
		return
	}
	for _, minion := range names {
		list, err := s.Cache.Fetch(BankResources, minion)
		ids, ok := list.([]any)
		if err != nil || !ok || !s.Keys.Has(keys.Accepted, minion) {
			continue
		}
		s.of[minion] = map[string]bool{}
		for _, v := range ids {
			if id, ok := v.(string); ok && s.by[id] == "" {
				s.of[minion][id], s.by[id] = true, minion
			}
		}
	}
}

// Register takes over what a minion manages. refused are ids that it may not have: of minions, and of others' resources.
func (s *Resources) Register(minion string, ids []string) (refused []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	for id := range s.of[minion] {
		delete(s.by, id)
	}
	mine, list := map[string]bool{}, []any{}
	for _, id := range ids {
		if len(mine) >= maxResources || !s.free(minion, id) {
			refused = append(refused, id)
			continue
		}
		if !mine[id] {
			mine[id], s.by[id] = true, minion
			list = append(list, id)
		}
	}
	s.of[minion] = mine
	return refused, s.Cache.Store(BankResources, minion, list)
}

// free tells whether a minion may manage an id.
func (s *Resources) free(minion, id string) bool {
	if !payload.ValidID(id) || id != minion && s.Keys.Has(keys.Accepted, id) {
		return false
	}
	if syndic := s.syndicOf(id); syndic != "" && syndic != minion {
		return false
	}
	by := s.by[id]
	return by == "" || by == minion || !s.Keys.Has(keys.Accepted, by)
}

// bankBelow keeps for each id below a syndic which one that is.
const bankBelow = BankSpeakers + "/below"

// maxBelow is how many ids are remembered at a time without looking at the disk.
const maxBelow = 1 << 16

// Below notes that a syndic speaks for an id, which from then on is no minion's to register: a resource of that name is taken
// from whoever has it. An error means that it is not on disk.
func (s *Resources) Below(syndic, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.syndicOf(id) == syndic {
		return nil
	}
	s.load()
	if by := s.by[id]; by != "" {
		delete(s.of[by], id)
		delete(s.by, id)
	}
	s.below[id] = syndic
	return s.Cache.Store(bankBelow, id, syndic)
}

// syndicOf is the syndic below which an id lives; "" when there is none, or it has no key any more.
func (s *Resources) syndicOf(id string) string {
	syndic, known := s.below[id]
	if !known {
		v, _ := s.Cache.Fetch(bankBelow, id)
		syndic, _ = v.(string)
		if s.below == nil || len(s.below) >= maxBelow {
			s.below = map[string]string{}
		}
		s.below[id] = syndic
	}
	if syndic == "" || !s.Keys.Has(keys.Accepted, syndic) {
		return ""
	}
	return syndic
}

// Manages tells whether a minion manages a resource.
func (s *Resources) Manages(minion, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.of[minion][id] && s.by[id] == minion && (id == minion || !s.Keys.Has(keys.Accepted, id))
}

// MayReturn tells whether a minion may answer under the id of a resource. One that has never registered any, as it has not
// begun anew since this master has, may for ids that are nobody's.
func (s *Resources) MayReturn(minion, id string) bool {
	if s.Manages(minion, id) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[minion] == nil && s.free(minion, id)
}
