package jinja

import (
	"math/rand/v2"

	"brine/modules/renderers/jinja/py"
)

// random takes any item.
func random(r *run, a []any) (any, error) {
	n, err := py.Len(a[0])
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return r.hinted("No random item, sequence was empty."), nil
	}
	return py.GetItem(r.work, a[0], int64(rand.IntN(n)), r.lenient)
}
