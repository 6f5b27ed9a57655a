package master

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"brine/wire/zmq"
)

// BenchmarkStatistics is what the counting of the supervisors costs a request: two masters, one that counts and one
// that does not, get the smallest request there is in turns. The processor time tells; b.N is the number of turns.
func BenchmarkStatistics(b *testing.B) {
	const peers, each = 8, 100
	type side struct {
		r     *rig
		peers []*zmq.Req
		spent []time.Duration // of each turn
	}
	frame := packed(b, clearEnvelope(cmd("ping"))) // no cipher, no disk
	sides := [2]*side{}
	for i := range sides {
		r := newSite(b)
		r.unmeasured = i == 1
		r.start()
		s := &side{r: r}
		for range peers {
			s.peers = append(s.peers, r.connect())
		}
		sides[i] = s
	}
	turn := func(s *side) {
		before := cpu()
		var wg sync.WaitGroup
		for _, q := range s.peers {
			wg.Go(func() {
				for range each {
					if _, err := q.Do(context.Background(), frame); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		s.spent = append(s.spent, cpu()-before)
	}
	turn(sides[0])
	turn(sides[1])
	sides[0].spent, sides[1].spent = nil, nil
	b.ResetTimer()
	for n := range b.N {
		turn(sides[n%2])
		turn(sides[1-n%2])
	}
	b.StopTimer()
	ratios := make([]float64, b.N)
	for i := range ratios { // of turns next to each other: the machine's other work hits both
		ratios[i] = float64(sides[0].spent[i]) / float64(sides[1].spent[i])
	}
	slices.Sort(ratios)
	slices.Sort(sides[0].spent)
	b.ReportMetric(float64(sides[0].spent[b.N/2].Nanoseconds())/float64(peers*each), "cpu-ns/request")
	b.ReportMetric(100*(ratios[b.N/2]-1), "overhead-%")
}

// BenchmarkStop is the end of an idle master, all phases included.
func BenchmarkStop(b *testing.B) {
	r := newSite(b)
	var took []time.Duration
	for range b.N {
		b.StopTimer()
		r.start()
		equal(b, "answer", r.clear(cmd("ping")), cmd("ping"))
		b.StartTimer()
		began := time.Now()
		r.stop()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
