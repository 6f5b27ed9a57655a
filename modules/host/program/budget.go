package program

import (
	"bytes"
	"math"
	"sync/atomic"

	"brine/modules/host/memory"
)

// MaxOutput is how much output of one program is kept where nothing else is said: 100 MiB, or about a 32nd of the
// memory limit of the control group where that is less. A daemon gives Go two fifths of that limit, and this goes by
// what Go has.
func MaxOutput() int64 {
	const most, share = 100 << 20, 13
	if limit := memory.ForGo(); limit < math.MaxInt64 {
		return min(most, limit/share)
	}
	return most
}

// Budget is what the outputs of one program may take together.
type Budget struct {
	Most int64
	used atomic.Int64 // of all that came
}

// NewBudget allows so many bytes; 0 or less: MaxOutput.
func NewBudget(most int64) *Budget {
	if most <= 0 {
		most = MaxOutput()
	}
	return &Budget{Most: most}
}

// take says how much of n bytes is kept.
func (b *Budget) take(n int) int {
	before := b.used.Add(int64(n)) - int64(n)
	return int(min(max(b.Most-before, 0), int64(n)))
}

// capped is a writer into memory that drops what is beyond a budget, and counts it.
type capped struct {
	buf  bytes.Buffer
	of   *Budget
	lost int64
}

func (w *capped) Write(p []byte) (int, error) {
	keep := w.of.take(len(p))
	w.buf.Write(p[:keep])
	w.lost += int64(len(p) - keep)
	return len(p), nil
}
