package jinja

import (
	"crypto/sha512"
	"encoding/hex"
	"math/rand/v2"

	"brine/modules/renderers/jinja/py"
	"brine/modules/text/pyrandom"
)

func randomFilters() map[string]*builtin {
	return map[string]*builtin{
		"random_sample": filter("sample", "value size seed=", func(r *run, a []any) (any, error) {
			return sample(r, a[0], a[1], a[2])
		}, nil),
		"random_shuffle": filter("shuffle", "value seed=", func(r *run, a []any) (any, error) {
			n, err := py.Len(a[0])
			if err != nil {
				return nil, err
			}
			return sample(r, a[0], int64(n), a[1])
		}, nil),
	}
}

// sample picks size values; the same for the same seed.
func sample(r *run, v, size, seed any) (any, error) {
	items, err := py.Collect(r.work, v)
	if err != nil {
		return nil, err
	}
	k, err := intOf(size)
	if err != nil {
		return nil, err
	}
	n := len(items)
	if k < 0 || k > n {
		return nil, py.Errorf("ValueError", "Sample larger than population or is negative")
	}
	below := rand.Uint64N
	if seed != nil {
		s, ok := py.Text(seed)
		if !ok {
			return nil, py.Errorf("TypeError", "object supporting the buffer API required")
		}
		sum := sha512.Sum512([]byte(s))
		below = pyrandom.FromText(hex.EncodeToString(sum[:])).Below
	}
	out := py.NewList()
	for _, i := range pyrandom.Sample(n, k, below) {
		out.Items = append(out.Items, items[i])
	}
	return out, nil
}
