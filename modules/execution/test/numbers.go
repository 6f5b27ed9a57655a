package test

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"math/big"
	"time"

	"brine/modules/loader"
)

func numbers() []loader.Func {
	return []loader.Func{
		loader.Fn("fib", fib, "The num-th Fibonacci number and the seconds it took.", "test.fib 3").AsTuple(),
		loader.Fn("collatz", collatz, "The Collatz sequence from start down to 1, and the seconds it took.",
			"test.collatz 3").AsTuple(),
		loader.Fn("random_hash", randomHash, "The hash of a random number below size.",
			"test.random_hash", "test.random_hash hash_type=sha512"),
		loader.Fn("rand_str", randomHash, "The same as test.random_hash, by its old name.", "test.rand_str"),
	}
}

type nth struct {
	N int64 `arg:"num"`
}

func fib(_ *loader.Call, a nth) (any, error) {
	n := a.N
	if n < 0 {
		return nil, loader.Raise("ValueError", "Negative number is not allowed!")
	}
	begin := time.Now()
	prev, curr := big.NewInt(0), big.NewInt(1)
	if n == 0 {
		curr = prev
	}
	for i := int64(1); i < n; i++ {
		prev.Add(prev, curr)
		prev, curr = curr, prev
	}
	return []any{whole(curr), time.Since(begin).Seconds()}, nil
}

func whole(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	if n.IsUint64() {
		return n.Uint64()
	}
	return n
}

type begun struct {
	Start int64 `arg:"start"`
}

// collatz keeps the oddity of the reference: a halved number is a float from there on.
func collatz(c *loader.Call, a begun) (any, error) {
	n := a.Start
	if n < 1 { // Unlike Salt: the reference never ends here and eats all memory
		return nil, loader.Raise("ValueError", "start must be positive")
	}
	begin := time.Now()
	steps := []any{}
	halved := false
	for ; n != 1 && c.Ctx.Err() == nil; n, halved = collatzStep(n, halved) {
		if halved {
			steps = append(steps, float64(n))
		} else {
			steps = append(steps, n)
		}
	}
	return []any{steps, time.Since(begin).Seconds()}, c.Ctx.Err()
}

func collatzStep(n int64, halved bool) (int64, bool) {
	if n%2 == 0 {
		return n / 2, true
	}
	return 3*n + 1, halved
}

type hashed struct {
	Size int64  `arg:"size=9999999999"`
	Hash string `arg:"hash_type=None"`
}

func randomHash(c *loader.Call, a hashed) (any, error) {
	kind := a.Hash
	if kind == "" {
		kind = c.Opts().Str("hash_type")
	}
	sum := hashOf(kind)
	if sum == nil {
		return nil, loader.Raise("AttributeError", "module 'hashlib' has no attribute '%s'", kind)
	}
	n, err := rand.Int(rand.Reader, big.NewInt(max(a.Size, 0)+1))
	if err != nil {
		return nil, err
	}
	sum.Write([]byte(n.String()))
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func hashOf(kind string) hash.Hash {
	switch kind {
	case "", "sha256":
		return sha256.New()
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
}
