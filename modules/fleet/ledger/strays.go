package ledger

import "slices"

// strayShare is which part of the jobs that are remembered may besides be such of which only minions speak: their
// schedules', and what they invent.
const strayShare = 4

// strays are the jobs of which only minions speak, by minion, the oldest first.
type strays struct {
	of  map[string][]string
	n   int
	age map[string]uint64 // when each came
	now uint64
}

func (s *strays) add(id, jid string) {
	if s.of == nil {
		s.of, s.age = map[string][]string{}, map[string]uint64{}
	}
	s.now++
	s.of[id] = append(s.of[id], jid)
	s.age[jid] = s.now
	s.n++
}

func (s *strays) remove(id, jid string) {
	list := s.of[id]
	i := slices.Index(list, jid)
	if i < 0 {
		return
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(s.of, id)
	} else {
		s.of[id] = list
	}
	delete(s.age, jid)
	s.n--
}

// pick takes the oldest job of the minion that has the most: a minion that has few loses none because of another.
func (s *strays) pick() string {
	var most, jid string
	for id, list := range s.of {
		if n := len(s.of[most]); len(list) > n || len(list) == n && s.age[list[0]] < s.age[jid] {
			most, jid = id, list[0]
		}
	}
	s.remove(most, jid)
	return jid
}
