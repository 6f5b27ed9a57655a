package datacache

import "slices"

// Sweep ends what a tool of Salt has ended by halves: salt-key of 3006 and 3007 removes the older form of a minion
// whose key it deletes, that of 3008 the newer one. An id without a key of which one form stands without the other is
// forgotten. What stood so when the first look was made stays: a master of one form may have left it there on purpose
// (salt-key --preserve-minions).
type Sweep struct {
	Banks   *Banks
	Keyed   func() (map[string]bool, error) // ids with a key of any status
	Changed func() int64                    // another number after a key has come or gone

	spared map[string]bool // nil before the first look
	at     int64           // Changed at the last look
	looks  int             // how many looks are left for that
}

// looksAfter is how often keys are looked at after a change: a tool removes the key before the data.
const looksAfter = 3

// Look forgets such ids, and returns them. It costs nothing while no key changes.
func (s *Sweep) Look() ([]string, error) {
	if at := s.Changed(); s.spared == nil || at != s.at {
		s.at, s.looks = at, looksAfter
	}
	if s.looks == 0 {
		return nil, nil
	}
	s.looks--
	keyed, err := s.Keyed()
	if err != nil {
		return nil, err
	}
	halves, err := s.Banks.halves(keyed)
	if err != nil {
		return nil, err
	}
	if s.spared == nil {
		s.spared = map[string]bool{}
		for _, id := range halves {
			s.spared[id] = true
		}
		return nil, nil
	}
	gone := slices.DeleteFunc(halves, func(id string) bool { return s.spared[id] })
	if len(gone) == 0 {
		return nil, nil
	}
	return gone, s.Banks.ForgetAllBut(func(id string) bool {
		return keyed[id] || !slices.Contains(gone, id) && !slices.Contains(gone, minionOf(id))
	})
}

// halves lists the ids without a key of which one form of grains and pillar stands without the other.
func (b *Banks) halves(keyed map[string]bool) ([]string, error) {
	newer, out := map[string]bool{}, []string(nil)
	for _, bank := range [...]string{BankGrains, BankPillar} {
		entries, err := b.List(bank)
		if err != nil {
			return nil, err
		}
		for _, key := range entries {
			if id := minionOf(key); !keyed[key] && !keyed[id] {
				newer[id] = true
			}
		}
	}
	older, err := b.olderIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range older {
		if keyed[id] || !b.Contains(bankOlder+"/"+id, keyData) {
			continue
		}
		if !newer[id] {
			out = append(out, id)
		}
		delete(newer, id)
	}
	for id := range newer {
		out = append(out, id)
	}
	return out, nil
}
