package unixcrypt

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strings"
)

// Digits are the 64 digits of these hashes, in their order.
const Digits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MD5 is crypt's MD5 by its magic, "$1$" or Apache's "$apr1$".
func MD5(magic, salt, password string) string {
	p, s := []byte(password), []byte(salt)
	alt := md5.Sum([]byte(password + salt + password))
	h := md5.New()
	h.Write([]byte(password + magic + salt))
	h.Write(cycle(alt[:], len(p)))
	for i := len(p); i > 0; i >>= 1 {
		if i&1 == 1 {
			h.Write([]byte{0})
		} else {
			h.Write(p[:1])
		}
	}
	sum := h.Sum(nil)
	for i := range 1000 {
		sum = round(md5.New(), i, sum, p, s)
	}
	var b strings.Builder
	for _, t := range [...][3]int{{0, 6, 12}, {1, 7, 13}, {2, 8, 14}, {3, 9, 15}, {4, 10, 5}} {
		put64(&b, sum[t[0]], sum[t[1]], sum[t[2]], 4)
	}
	put64(&b, 0, 0, sum[11], 2)
	return magic + salt + "$" + b.String()
}

// round is one of the many rounds of crypt's MD5 and SHA.
func round(h hash.Hash, i int, sum, p, s []byte) []byte {
	first, last := sum, p
	if i&1 == 1 {
		first, last = p, sum
	}
	h.Write(first)
	if i%3 != 0 {
		h.Write(s)
	}
	if i%7 != 0 {
		h.Write(p)
	}
	h.Write(last)
	return h.Sum(nil)
}

// cycle repeats b up to n bytes.
func cycle(b []byte, n int) []byte {
	out := make([]byte, 0, n+len(b))
	for len(out) < n {
		out = append(out, b...)
	}
	return out[:n]
}

func put64(b *strings.Builder, hi, mid, lo byte, n int) {
	v := uint(hi)<<16 | uint(mid)<<8 | uint(lo)
	for range n {
		b.WriteByte(Digits[v&63])
		v >>= 6
	}
}

// SHA is the text of the hash alone. Source: Ulrich Drepper's "Unix crypt using SHA-256 and SHA-512".
func SHA(magic, salt, password string, rounds int) string {
	newHash, order, tail := sha512.New, sha512Order(), func(b *strings.Builder, d []byte) { put64(b, 0, 0, d[63], 2) }
	if magic == "$5$" {
		newHash, order, tail = sha256.New, sha256Order(), func(b *strings.Builder, d []byte) {
			put64(b, 0, d[31], d[30],
				3)
		}
	}
	p, s := []byte(password), []byte(salt)
	sumOf := func(parts ...[]byte) []byte {
		h := newHash()
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	alt := sumOf(p, s, p)
	h := newHash()
	h.Write(p)
	h.Write(s)
	h.Write(cycle(alt, len(p)))
	for i := len(p); i > 0; i >>= 1 {
		if i&1 == 1 {
			h.Write(alt)
		} else {
			h.Write(p)
		}
	}
	sum := h.Sum(nil)
	p = cycle(sumOf(repeated(p, len(p))...), len(p))
	s = cycle(sumOf(repeated(s, 16+int(sum[0]))...), len(s))
	for i := range rounds {
		sum = round(newHash(), i, sum, p, s)
	}
	var b strings.Builder
	for _, t := range order {
		put64(&b, sum[t[0]], sum[t[1]], sum[t[2]], 4)
	}
	tail(&b, sum)
	return b.String()
}

func repeated(b []byte, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = b
	}
	return out
}

// sha256Order and sha512Order are the bytes of a sum in the order in which they are written.
func sha256Order() [][3]int {
	return orderOf(10, [3]int{0, 10, 20}, func(t [3]int) [3]int { return [3]int{t[2] + 1, t[0] + 1, t[1] + 1} })
}

func sha512Order() [][3]int {
	return orderOf(21, [3]int{0, 21, 42}, func(t [3]int) [3]int { return [3]int{t[1] + 1, t[2] + 1, t[0] + 1} })
}

func orderOf(n int, t [3]int, next func([3]int) [3]int) [][3]int {
	out := make([][3]int, n)
	for i := range out {
		out[i], t = t, next(t)
	}
	return out
}
