package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

func benchSystem() *System { return NewSystem(slog.New(slog.DiscardHandler)) }

// token counts down in the measured actor.
type token struct{ wg *sync.WaitGroup }

type sink struct{}

func (sink) Receive(ctx Context) {
	if m, ok := ctx.Message().(*token); ok {
		m.wg.Done()
	}
}

func sinkSpec(name string) Spec {
	return Spec{Name: name, New: func() Actor { return sink{} }}
}

// ready adds a child and waits until it is ready.
func ready(b *testing.B, s *Supervisor, spec Spec) *Ref {
	b.Helper()
	ref, err := s.Add(spec)
	if err != nil {
		b.Fatal(err)
	}
	if err := ref.Ready(context.Background()); err != nil {
		b.Fatal(err)
	}
	return ref
}

// measure sends b.N messages and waits until they are handled.
func measure(b *testing.B, send func(msg any)) {
	b.Helper()
	var wg sync.WaitGroup
	msg := &token{&wg}
	wg.Add(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		send(msg)
	}
	wg.Wait()
}

// BenchmarkSend compares one sender and one actor: plain protoactor, and ours without and with measuring.
func BenchmarkSend(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		system := benchSystem()
		pid := system.Root.Spawn(actor.PropsFromProducer(func() Actor { return sink{} }))
		measure(b, func(msg any) { system.Root.Send(pid, msg) })
	})
	for _, tt := range []struct {
		name string
		off  bool
	}{{"unmeasured", true}, {"measured", false}} {
		b.Run(tt.name, func(b *testing.B) {
			s := Start(benchSystem(), Options{Unmeasured: tt.off})
			defer s.Stop(time.Minute)
			ref := ready(b, s, sinkSpec("a"))
			measure(b, func(msg any) { ref.Send(msg) })
		})
	}
}

// BenchmarkSendFromMany has many senders and one actor.
func BenchmarkSendFromMany(b *testing.B) {
	run := func(b *testing.B, send func(msg any)) {
		var wg sync.WaitGroup
		msg := &token{&wg}
		wg.Add(b.N)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				send(msg)
			}
		})
		wg.Wait()
	}
	b.Run("plain", func(b *testing.B) {
		system := benchSystem()
		pid := system.Root.Spawn(actor.PropsFromProducer(func() Actor { return sink{} }))
		run(b, func(msg any) { system.Root.Send(pid, msg) })
	})
	b.Run("measured", func(b *testing.B) {
		s := Start(benchSystem(), Options{})
		defer s.Stop(time.Minute)
		ref := ready(b, s, sinkSpec("a"))
		run(b, func(msg any) { ref.Send(msg) })
	})
}

// ping is a message that its receiver sends back until left is 0.
type ping struct{ left int }

type ponger struct {
	send func(ctx Context, m *ping)
	done chan struct{}
}

func (p *ponger) Receive(ctx Context) {
	m, ok := ctx.Message().(*ping)
	if !ok {
		return
	}
	if m.left--; m.left <= 0 {
		close(p.done)
		return
	}
	p.send(ctx, m)
}

// BenchmarkPingPong has two actors that wait for each other: it measures the cost of waking one up.
func BenchmarkPingPong(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		system, done := benchSystem(), make(chan struct{})
		var pids [2]*PID
		for i := range pids {
			p := &ponger{send: func(ctx Context, m *ping) { ctx.Send(pids[1-i], m) }, done: done}
			pids[i] = system.Root.Spawn(actor.PropsFromProducer(func() Actor { return p }))
		}
		b.ResetTimer()
		system.Root.Send(pids[0], &ping{b.N})
		<-done
	})
	b.Run("measured", func(b *testing.B) {
		s, done := Start(benchSystem(), Options{}), make(chan struct{})
		defer s.Stop(time.Minute)
		var refs [2]*Ref
		for i := range refs {
			p := &ponger{send: func(ctx Context, m *ping) { Send(ctx, refs[1-i], m) }, done: done}
			refs[i] = ready(b, s, Spec{Name: fmt.Sprint(i), New: func() Actor { return p }})
		}
		b.ResetTimer()
		refs[0].Send(&ping{b.N})
		<-done
	})
}

// BenchmarkJob is the life of a job actor: added, one message, done, removed.
func BenchmarkJob(b *testing.B) {
	b.ReportAllocs()
	s := Start(benchSystem(), Options{})
	defer s.Stop(time.Minute)
	var wg sync.WaitGroup
	for i := range b.N {
		wg.Add(1)
		name := fmt.Sprintf("Job-%d", i)
		ref, err := s.Add(Spec{Name: name, New: func() Actor {
			return ReceiveFunc(func(ctx Context) {
				if m, ok := ctx.Message().(*token); ok {
					Of(ctx).Done(name)
					m.wg.Done()
				}
			})
		}})
		if err != nil {
			b.Fatal(err)
		}
		ref.Send(&token{&wg})
		if i%64 == 63 {
			wg.Wait()
		}
	}
	wg.Wait()
}

// BenchmarkRestart measures the time from a panic to the next incarnation's answer, and for an owner to the answer of
// its workers, which restart with it.
func BenchmarkRestart(b *testing.B) {
	for _, workers := range []int{0, 8} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			s := Start(benchSystem(), Options{RestartDelayMax: 1})
			defer s.Stop(time.Minute)
			answers := make(chan struct{}, 1)
			ref := ready(b, s, Spec{Name: "a", New: func() Actor { return mortal(workers, answers) }})
			took := make([]time.Duration, 0, b.N)
			b.ResetTimer()
			for range b.N {
				began := time.Now()
				ref.Send(&ping{})
				ref.Send(&token{})
				<-answers
				took = append(took, time.Since(began))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		})
	}
}

// mortal dies of a ping. It answers a token itself, or lets the last of its workers answer.
func mortal(workers int, answers chan<- struct{}) Actor {
	var last *Ref
	return ReceiveFunc(func(ctx Context) {
		switch m := ctx.Message().(type) {
		case *Started:
			for i := range workers {
				ref, err := Nest(ctx, Options{}).Add(Spec{Name: fmt.Sprint(i), New: func() Actor {
					return mortal(0, answers)
				}})
				if err != nil {
					Crash(err)
				}
				last = ref
			}
		case *ping:
			Crash(ErrDropped)
		case *token:
			if last != nil {
				last.Send(m)
				return
			}
			answers <- struct{}{}
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	s := Start(benchSystem(), Options{})
	defer s.Stop(time.Minute)
	for i := range 1000 {
		if _, err := s.Add(sinkSpec(fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		s.Snapshot()
	}
}

func BenchmarkNewSystem(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		benchSystem()
	}
}
