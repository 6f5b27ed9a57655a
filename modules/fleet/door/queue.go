package door

import "slices"

// Queue is a line in which every address has its turn: who brings much waits behind himself. The zero value is empty.
// It is not safe for concurrent use.
type Queue[T any] struct {
	from  map[string][]T
	turns []string // addresses of which somebody waits, whose turn it is first
	n     int
}

// Len is how many wait.
func (q *Queue[T]) Len() int { return q.n }

// Push puts one at the end of its address.
func (q *Queue[T]) Push(from string, v T) {
	from = Network(from)
	if q.from == nil {
		q.from = map[string][]T{}
	}
	if len(q.from[from]) == 0 {
		q.turns = append(q.turns, from)
	}
	q.from[from] = append(q.from[from], v)
	q.n++
}

// Pop takes the next one; there must be one.
func (q *Queue[T]) Pop() T {
	from := q.turns[0]
	q.turns = q.turns[1:]
	list := q.from[from]
	v := list[0]
	var none T
	list[0] = none
	q.n--
	if list = list[1:]; len(list) > 0 {
		q.from[from] = list
		q.turns = append(q.turns, from)
	} else {
		delete(q.from, from)
	}
	return v
}

// DeleteFunc takes out those of whom gone is true.
func (q *Queue[T]) DeleteFunc(gone func(T) bool) {
	q.turns = slices.DeleteFunc(q.turns, func(from string) bool {
		list := q.from[from]
		before := len(list)
		list = slices.DeleteFunc(list, gone)
		q.n -= before - len(list)
		if len(list) == 0 {
			delete(q.from, from)
			return true
		}
		q.from[from] = list
		return false
	})
}

// Each calls see with all who wait.
func (q *Queue[T]) Each(see func(T)) {
	for _, from := range q.turns {
		for _, v := range q.from[from] {
			see(v)
		}
	}
}
