package chaos

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// step is one fault of a plan: its time, its name, and the seed of its own random numbers.
type step struct {
	At    time.Duration // after the start of the round
	Fault string
	Seed  uint64
}

// draw is the random source of one step.
func (s step) draw() *rand.Rand { return rand.New(rand.NewPCG(s.Seed, 0)) }

// plan draws the faults of one round. It is a pure function of its arguments. The last fault is not random,
// because the recovery after it is measured: rounds use all kinds in turn.
func plan(seed uint64, round, n int, over time.Duration, table []fault) []step {
	r := rand.New(rand.NewPCG(seed, uint64(round)))
	total := 0
	for _, f := range table {
		total += f.weight
	}
	steps := make([]step, n)
	for i := range steps {
		at := time.Duration(r.Int64N(int64(over) + 1))
		pick := r.IntN(total)
		for _, f := range table {
			if pick -= f.weight; pick < 0 {
				steps[i] = step{At: at, Fault: f.name, Seed: r.Uint64()}
				break
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.At - b.At) })
	steps[n-1].Fault = table[(round-1)%len(table)].name
	return steps
}

func TestPlan(t *testing.T) {
	table := []fault{{name: "often", weight: 90}, {name: "never", weight: 0}, {name: "seldom", weight: 10}}
	first := plan(7, 1, 1000, time.Minute, table)
	if !reflect.DeepEqual(first, plan(7, 1, 1000, time.Minute, table)) {
		t.Error("the same seed made another plan")
	}
	if reflect.DeepEqual(first, plan(7, 2, 1000, time.Minute, table)) || reflect.DeepEqual(first,
		plan(8, 1, 1000, time.Minute, table)) {
		t.Error("another round, or another seed, made the same plan")
	}
	count := map[string]int{}
	for i, s := range first {
		count[s.Fault]++
		if s.At < 0 || s.At > time.Minute || i > 0 && s.At < first[i-1].At {
			t.Fatalf("step %d is at %v", i, s.At)
		}
	}
	if count["often"] < 800 || count["seldom"] < 50 || count["never"] != 0 || len(first) != 1000 ||
		first[999].Fault != "often" {
		t.Errorf("drawn: %v", count)
	}
}
