package testmod

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
		{Name: "test.fib", Params: []loader.Param{loader.Req("num")}, Tuple: true, Run: fib,
			Doc: `The num-th Fibonacci number and the seconds it took.

CLI Example:

    salt '*' test.fib 3`},
		{Name: "test.collatz", Params: []loader.Param{loader.Req("start")}, Tuple: true, Run: collatz,
			Doc: `The Collatz sequence from start down to 1, and the seconds it took.

CLI Example:

    salt '*' test.collatz 3`},
		{Name: "test.random_hash", Params: hashParams(), Run: randomHash, Doc: `The hash of a random number below size.

CLI Example:

    salt '*' test.random_hash
    salt '*' test.random_hash hash_type=sha512`},
		{Name: "test.rand_str", Params: hashParams(), Run: randomHash, Doc: `The same as test.random_hash, by its old name.

CLI Example:

    salt '*' test.rand_str`},
	}
}

func hashParams() []loader.Param {
	return []loader.Param{loader.Opt("size", int64(9999999999)), loader.Opt("hash_type", nil)}
}

func fib(_ *loader.Call, a loader.Args) (any, error) {
	n, err := a.Int("num")
	if err != nil {
		return nil, err
	}
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

// collatz keeps the oddity of the reference: a halved number is a float from there on.
func collatz(c *loader.Call, a loader.Args) (any, error) {
	n, err := a.Int("start")
	if err != nil {
		return nil, err
	}
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

func randomHash(c *loader.Call, a loader.Args) (any, error) {
	size, err := a.Int("size")
	if err != nil {
		return nil, err
	}
	kind := a.Str("hash_type")
	if kind == "" {
		kind = c.Opts().Str("hash_type")
	}
	sum := hashOf(kind)
	if sum == nil {
		return nil, loader.Raise("AttributeError", "module 'hashlib' has no attribute '%s'", kind)
	}
	n, err := rand.Int(rand.Reader, big.NewInt(max(size, 0)+1))
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
