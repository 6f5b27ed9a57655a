package netapi

import (
	"container/list"
	"io"

	"brine/modules/fleet/door"
)

// resting are the connections on which nothing is asked at the moment: those of each address, the longest at rest
// first.
type resting struct {
	of map[string]*list.List
	at map[io.Closer]*list.Element
}

// Rest says that nothing is asked on a connection, so that it may give way to another.
func (r *Room) Rest(from string, c io.Closer) {
	from = door.Network(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rest.of == nil {
		r.rest = resting{of: map[string]*list.List{}, at: map[io.Closer]*list.Element{}}
	}
	if r.rest.at[c] != nil {
		return
	}
	if r.rest.of[from] == nil {
		r.rest.of[from] = list.New()
	}
	r.rest.at[c] = r.rest.of[from].PushBack(c)
}

// Wake says that something is asked on a connection, or that it is no more.
func (r *Room) Wake(from string, c io.Closer) {
	from = door.Network(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake(from, c)
}

func (r *Room) wake(from string, c io.Closer) {
	if e := r.rest.at[c]; e != nil {
		delete(r.rest.at, c)
		if l := r.rest.of[from]; l.Remove(e) != nil && l.Len() == 0 {
			delete(r.rest.of, from)
		}
	}
}

// GiveWay is the connection at rest that is to be closed so that one of an address finds a place: of the same address,
// or, where there is no place left at all, of the one that has most. nil: none would help, or would take from whom has
// no more.
func (r *Room) GiveWay(from string) io.Closer {
	proxy := trusted(r.Proxies, from)
	from = door.Network(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.from[from]
	whose := ""
	switch {
	case r.rest.of[from] != nil && r.fits(r.all-1, own-1, proxy):
		whose = from
	case r.fits(r.all-1, own, proxy):
		for other := range r.rest.of {
			if n := r.from[other]; n > own+1 && n > r.from[whose] {
				whose = other
			}
		}
	}
	if r.rest.of[whose] == nil {
		return nil
	}
	c := r.rest.of[whose].Front().Value.(io.Closer)
	r.wake(whose, c)
	return c
}
