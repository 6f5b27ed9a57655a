package mod_random

import (
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"

	"brine/modules/loader"
	"brine/modules/text/pyrandom"
	"brine/wire/payload"
	"brine/wire/python"
)

// generator draws by a seed as random.seed takes it; nil is chance.
func generator(seed any) (func(n uint64) uint64, error) {
	switch x := seed.(type) {
	case nil:
		return rand.Uint64N, nil
	case string:
		return pyrandom.FromText(x).Below, nil
	case []byte:
		return pyrandom.FromText(string(x)).Below, nil
	case bool:
		return pyrandom.FromInt(map[bool]uint64{true: 1}[x]).Below, nil
	case int64:
		if x < 0 {
			x = -x
		}
		return pyrandom.FromInt(uint64(x)).Below, nil
	case uint64:
		return pyrandom.FromInt(x).Below, nil
	case float64:
		return pyrandom.FromInt(uint64(hashOf(x))).Below, nil
	}
	return nil, &loader.ArgumentError{Message: "The only supported seed types are: None,\n" +
		"int, float, str, bytes, and bytearray."}
}

// hashOf is hash() of a float: the number modulo 2**61 - 1.
func hashOf(f float64) int64 {
	const bits, modulus = 61, 1<<61 - 1
	if math.IsInf(f, 0) {
		return int64(math.Copysign(314159, f))
	}
	m, e := math.Frexp(math.Abs(f))
	var x uint64
	for m != 0 {
		x = x<<28&modulus | x>>(bits-28)
		m *= 1 << 28
		e -= 28
		y := uint64(m)
		m -= float64(y)
		if x += y; x >= modulus {
			x -= modulus
		}
	}
	turn := ((e % bits) + bits) % bits
	x = x<<turn&modulus | x>>(bits-turn)
	out := int64(x)
	if f < 0 {
		out = -out
	}
	if out == -1 {
		return -2
	}
	return out
}

// between are the bounds of a number.
type between struct {
	Start any `arg:"start=1"`
	End   any `arg:"end=10"`
	Seed  any `arg:"seed=None"`
}

func randInt(_ *loader.Call, a between) (any, error) {
	below, err := generator(a.Seed)
	if err != nil {
		return nil, err
	}
	if v, ok := a.End.(string); ok {
		return nil, &loader.ArgumentError{Message: fmt.Sprintf(`can only concatenate str (not "int") to %s`,
			python.Type(v))}
	}
	start, err := index(a.Start, "arg 1")
	if err != nil {
		return nil, err
	}
	end, err := index(a.End, "stop")
	if err != nil {
		return nil, err
	}
	if end < start {
		return nil, loader.Raise("ValueError", "empty range for randrange() (%d, %d, %d)", start, end+1, end+1-start)
	}
	return start + int64(below(uint64(end-start)+1)), nil
}

// index is a whole number as randrange wants one.
func index(v any, what string) (int64, error) {
	n, err := loader.ToInt(v)
	if err != nil {
		return 0, err
	}
	if f, ok := python.Number(v); !ok || f != float64(n) {
		return 0, loader.Raise("ValueError", "non-integer %s for randrange()", what)
	}
	return n, nil
}

// ranged is the range of a number, and what it depends on.
type ranged struct {
	Range any `arg:"range=10"`
	Hash  any `arg:"hash=None"`
}

func seeded(c *loader.Call, a ranged) (any, error) {
	seed := a.Hash
	if seed == nil {
		id, ok := c.Grain("id")
		if !ok {
			return nil, loader.Raise("KeyError", "'id'")
		}
		seed = id
	}
	below, err := generator(seed)
	if err != nil {
		return nil, err
	}
	n, err := index(a.Range, "arg 1")
	if err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, loader.Raise("ValueError", "empty range for randrange()")
	}
	return int64(below(uint64(n))), nil
}

// picked is a list and how many of it are picked.
type picked struct {
	Value any `arg:"value"`
	Size  any `arg:"size"`
	Seed  any `arg:"seed=None"`
}

func runSample(_ *loader.Call, a picked) (any, error) {
	size, ok := a.Size.(int64)
	if !ok {
		return nil, &loader.ArgumentError{Message: "'<=' not supported between instances of 'int' and '" +
			python.Type(a.Size) + "'"}
	}
	return sample(a.Value, size, a.Seed)
}

// shuffled is a list to put in another order.
type shuffled struct {
	Value any `arg:"value"`
	Seed  any `arg:"seed=None"`
}

func shuffle(_ *loader.Call, a shuffled) (any, error) {
	size := 0
	switch x := a.Value.(type) {
	case []any:
		size = len(x)
	case string:
		size = len([]rune(x))
	case *payload.Map:
		size = x.Len()
	default:
		return nil, &loader.ArgumentError{Message: "object of type '" + python.Type(x) + "' has no len()"}
	}
	return sample(a.Value, int64(size), a.Seed)
}

// sample picks by a hash of the seed, which must be a text.
func sample(value any, size int64, seed any) (any, error) {
	below := rand.Uint64N
	if seed != nil {
		text, ok := seed.(string)
		if !ok {
			return nil, &loader.ArgumentError{Message: "object supporting the buffer API required"}
		}
		sum := sha512.Sum512([]byte(text))
		below = pyrandom.FromText(hex.EncodeToString(sum[:])).Below
	}
	var items []any
	switch x := value.(type) {
	case []any:
		items = x
	case string:
		for _, r := range x {
			items = append(items, string(r))
		}
	default:
		return nil, &loader.ArgumentError{Message: "Population must be a sequence.  For dicts or sets, use sorted(d)."}
	}
	if size < 0 || size > int64(len(items)) {
		return nil, loader.Raise("ValueError", "Sample larger than population or is negative")
	}
	out := make([]any, 0, size)
	for _, i := range pyrandom.Sample(len(items), int(size), below) {
		out = append(out, items[i])
	}
	return out, nil
}
