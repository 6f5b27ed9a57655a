// Package pyrandom draws the numbers that Python's random draws for a seed: minions choose their minute, templates
// their sample by it, and that must be the same one as under Salt. It is for no secret.
package pyrandom

import (
	"crypto/sha512"
	"math"
	"math/bits"
)

// Twister is the generator of Python's random: the Mersenne Twister MT19937.
type Twister struct {
	state [624]uint32
	at    int
}

// FromText seeds a generator with a text or bytes as random.seed does: by these and their SHA-512 as one large number.
func FromText(seed string) *Twister {
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
	return byKey(trimmed(key))
}

// FromInt seeds a generator with a whole number without its sign.
func FromInt(n uint64) *Twister { return byKey(trimmed([]uint32{uint32(n), uint32(n >> 32)})) }

// trimmed leaves out the words of a number that are before its first digit.
func trimmed(key []uint32) []uint32 {
	for len(key) > 1 && key[len(key)-1] == 0 {
		key = key[:len(key)-1]
	}
	return key
}

func byKey(key []uint32) *Twister {
	t := &Twister{at: 624}
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

func (t *Twister) next() uint32 {
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

// Below is a number from 0 to n-1; n is at least 1.
func (t *Twister) Below(n uint64) uint64 {
	k := bits.Len64(n)
	for {
		v := uint64(t.next())
		if k <= 32 {
			v >>= 32 - k
		} else {
			v |= uint64(t.next()>>(64-k)) << 32
		}
		if v < n {
			return v
		}
	}
}

// Sample picks k of the places 0 to n-1 in the order of random.sample; below draws the numbers.
func Sample(n, k int, below func(n uint64) uint64) []int {
	out := make([]int, 0, k)
	few := 21
	if k > 5 {
		few += 1 << (2 * int(math.Ceil(math.Log(float64(k*3))/math.Log(4))))
	}
	if n <= few { // Python has two ways, which give different picks
		places := make([]int, n)
		for i := range places {
			places[i] = i
		}
		for i := range k {
			j := below(uint64(n - i))
			out = append(out, places[j])
			places[j] = places[n-i-1]
		}
		return out
	}
	taken := map[uint64]bool{}
	for range k {
		j := below(uint64(n))
		for taken[j] {
			j = below(uint64(n))
		}
		taken[j] = true
		out = append(out, int(j))
	}
	return out
}
