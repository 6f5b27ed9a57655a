package speakers

import (
	"iter"
	"slices"
	"sync"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/wire/payload"
)

// BankResources keeps for each minion the ids of the resources that it has registered (Salt 3008), each with the
// moment when that was, in microseconds since 1970. A list of ids is of a time before moments were kept.
const BankResources = "resources"

// maxResources is how many resources a minion may manage.
const maxResources = 10000

// Resources remember which minion manages which resource. An id has one manager, the first that names it, until that
// one names it no more or loses its key. Its methods may be called by many goroutines.
//
// Unlike Salt: there the last minion that names an id has it, and returns are not compared with that.
type Resources struct {
	Keys  *keys.Store
	Cache *datacache.Banks
	Now   func() time.Time // nil: time.Now

	mu     sync.Mutex
	loaded bool
	of     map[string]map[string]int64 // minion → id → since when, in microseconds; 0: it is not known
	by     map[string]string           // id → minion
	below  map[string]string           // id → syndic, as far as it was looked up; "" for none
}

func (s *Resources) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// load reads the bank, once.
func (s *Resources) load() {
	if s.loaded {
		return
	}
	s.loaded, s.of, s.by = true, map[string]map[string]int64{}, map[string]string{}
	names, err := s.Cache.List(BankResources)
	if err != nil {
		return
	}
	for _, minion := range names {
		kept, err := s.Cache.Fetch(BankResources, minion)
		if err != nil || !s.Keys.Has(keys.Accepted, minion) {
			continue
		}
		s.of[minion] = map[string]int64{}
		for id, since := range readResources(kept) {
			if below := s.syndicOf(id); s.by[id] == "" && (below == "" || below == minion) {
				s.of[minion][id], s.by[id] = since, minion
			}
		}
	}
}

// readResources reads what is kept of one minion.
func readResources(kept any) iter.Seq2[string, int64] {
	return func(yield func(id string, since int64) bool) {
		switch kept := kept.(type) {
		case *payload.Map:
			for k, v := range kept.All() {
				id, ok := k.(string)
				since, _ := v.(int64)
				if ok && !yield(id, since) {
					return
				}
			}
		case []any:
			for _, id := range payload.Texts(kept) {
				if !yield(id, 0) {
					return
				}
			}
		}
	}
}

// Register takes over what a minion manages. refused are ids that it may not have: of minions, and of others'
// resources.
func (s *Resources) Register(minion string, ids []string) (refused []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	before := s.of[minion]
	for id := range before {
		delete(s.by, id)
	}
	now, mine, kept := s.now().UnixMicro(), map[string]int64{}, payload.NewMap(len(ids))
	for _, id := range ids {
		since, had := before[id]
		if len(mine) >= maxResources || !s.free(minion, id) || !had && s.named(minion, id) {
			refused = append(refused, id)
			continue
		}
		if !had {
			since = now
		}
		mine[id], s.by[id] = since, minion
		kept.Set(id, since)
	}
	s.of[minion] = mine
	return refused, s.Cache.Store(BankResources, minion, kept)
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

// named tells whether somebody else has offered a key under an id, whatever became of it. Such an id is a
// minion's, and becomes no resource. What is a resource already stays one: anybody may offer a key.
func (s *Resources) named(minion, id string) bool {
	return id != minion && slices.ContainsFunc([]keys.Status{keys.Pending, keys.Rejected, keys.Denied},
		func(st keys.Status) bool { return s.Keys.Has(st, id) })
}

// bankBelow keeps for each id below a syndic which one that is.
const bankBelow = BankSpeakers + "/below"

// maxBelow is how many ids are remembered at a time without looking at the disk.
const maxBelow = 1 << 16

// Below notes that a syndic speaks for an id, which from then on is no minion's to register: a resource of that name is
// taken from whoever has it. An error means that it is not on disk.
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
	_, yes := s.Since(minion, id)
	return yes
}

// Since is when a minion has registered a resource that it manages; the zero time when that is not known, or is
// still to come because the clock was set back.
func (s *Resources) Since(minion, id string) (at time.Time, manages bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	since, has := s.of[minion][id]
	if !has || s.by[id] != minion || id != minion && s.Keys.Has(keys.Accepted, id) {
		return time.Time{}, false
	}
	if at = time.UnixMicro(since); since == 0 || at.After(s.now()) {
		return time.Time{}, true
	}
	return at, true
}
