package jinja

import (
	"crypto/sha512"
	"encoding/hex"
	"math"
	"math/bits"
	"math/rand/v2"

	"brine/modules/renderers/jinja/py"
)

func randomFilters() map[string]*builtin {
	return map[string]*builtin{
		"random_sample": filter("sample", "value size seed=", func(r *run, a []any) (any, error) { return sample(r, a[0], a[1], a[2]) }, nil),
		"random_shuffle": filter("shuffle", "value seed=", func(r *run, a []any) (any, error) {
			n, err := py.Len(a[0])
			if err != nil {
				return nil, err
			}
			return sample(r, a[0], int64(n), a[1])
		}, nil),
	}
}

// twister is the generator of Python's random: the Mersenne Twister MT19937.
type twister struct {
	state [624]uint32
	at    int
}

// newTwister seeds it with a text as random.Random(text) does: the text and its SHA-512 as one large number.
func newTwister(seed string) *twister {
	sum := sha512.Sum512([]byte(seed))
	raw := append([]byte(seed), sum[:]...)
	var key []uint32
	for end := len(raw); end > 0; end -= 4 {
		var word uint32
		for _, b := range raw[max(0, end-4):end] {
			word = word<<8 | uint32(b)
		}
		key = append(key, word)
	}
	t := &twister{at: 624}
	s := &t.state
	s[0] = 19650218
	for i := 1; i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	wrap := func() {
		if i++; i >= 624 {
			s[0], i = s[623], 1
		}
	}
	for range max(624, len(key)) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		wrap()
		j = (j + 1) % len(key)
	}
	for range 623 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		wrap()
	}
	s[0] = 1 << 31
	return t
}

func (t *twister) next() uint32 {
	if t.at >= 624 {
		for i := range t.state {
			y := t.state[i]&0x80000000 | t.state[(i+1)%624]&0x7fffffff
			t.state[i] = t.state[(i+397)%624] ^ y>>1 ^ -(y&1)&0x9908b0df
		}
		t.at = 0
	}
	y := t.state[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below is a number from 0 to n-1.
func (t *twister) below(n int) int {
	k := bits.Len(uint(n))
	for {
		if v := int(t.next() >> (32 - k)); v < n {
			return v
		}
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
	below := rand.IntN
	if seed != nil {
		s, ok := py.Text(seed)
		if !ok {
			return nil, py.Errorf("TypeError", "object supporting the buffer API required")
		}
		sum := sha512.Sum512([]byte(s))
		below = newTwister(hex.EncodeToString(sum[:])).below
	}
	out := py.NewList()
	few := 21
	if k > 5 {
		few += 1 << (2 * int(math.Ceil(math.Log(float64(k*3))/math.Log(4))))
	}
	if n <= few { // Python has two ways, which give different picks
		for i := range k {
			j := below(n - i)
			out.Items = append(out.Items, items[j])
			items[j] = items[n-i-1]
		}
		return out, nil
	}
	taken := map[int]bool{}
	for range k {
		j := below(n)
		for taken[j] {
			j = below(n)
		}
		taken[j] = true
		out.Items = append(out.Items, items[j])
	}
	return out, nil
}
