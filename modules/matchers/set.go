package matchers

import (
	"errors"
	"math/bits"
)

// idSet is a set of ids by their index in a universe.
type idSet []uint64

func newSet(n int) idSet { return make(idSet, (n+63)/64) }

func (s idSet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s idSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s idSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// setAlgebra are the operations within the set all. Operands are not changed.
func setAlgebra(all idSet) algebra[idSet] {
	combine := func(a, b idSet, f func(x, y uint64) uint64) idSet {
		out := make(idSet, len(all))
		for i := range out {
			out[i] = f(a[i], b[i])
		}
		return out
	}
	return algebra[idSet]{
		and: func(a, b idSet) idSet { return combine(a, b, func(x, y uint64) uint64 { return x & y }) },
		or:  func(a, b idSet) idSet { return combine(a, b, func(x, y uint64) uint64 { return x | y }) },
		not: func(a idSet) idSet { return combine(all, a, func(x, y uint64) uint64 { return x &^ y }) },
	}
}

func joinErr(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}
