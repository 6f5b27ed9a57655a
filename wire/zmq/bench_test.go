package zmq

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"brine/wire/transport"
)

// BenchmarkRequest sends requests of Salt's usual size; the clients share the processors with the server.
func BenchmarkRequest(b *testing.B) {
	payload := bytes.Repeat([]byte("s"), 300)
	for _, clients := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("N=%d", clients), func(b *testing.B) {
			jobs := make(chan transport.Request, 1024)
			r, stop := startRouter(b, RouterOptions{Endpoint: anyPort}, func(_ *Router, m transport.Request) { jobs <- m })
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for m := range jobs {
						_ = m.Answer(m.Payload)
					}
				})
			}
			addr := r.Addr()
			b.Cleanup(func() { stop(); close(jobs); workers.Wait() })
			shared, err := NewContext(1)
			if err != nil {
				b.Fatal(err)
			}
			defer shared.Close()
			closedLoop(b, clients, func() (func() error, func()) {
				q := NewReq(ReqOptions{Endpoint: addr, Context: shared})
				return func() error { _, err := q.Do(context.Background(), payload); return err }, func() { q.Close() }
			})
		})
	}
}

// BenchmarkPlainTCP is the same over plain TCP, to measure the cost of ZeroMQ.
func BenchmarkPlainTCP(b *testing.B) {
	payload := bytes.Repeat([]byte("s"), 300)
	for _, clients := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("N=%d", clients), func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			var served sync.WaitGroup
			served.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					served.Go(func() { echoTCP(conn, len(payload)) })
				}
			})
			closedLoop(b, clients, func() (func() error, func()) {
				conn, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				in := make([]byte, len(payload))
				return func() error {
					if _, err := conn.Write(payload); err != nil {
						return err
					}
					return readFull(conn, in)
				}, func() { conn.Close() }
			})
			l.Close()
			served.Wait()
		})
	}
}

func echoTCP(conn net.Conn, size int) {
	defer conn.Close()
	buf := make([]byte, size)
	for readFull(conn, buf) == nil {
		if _, err := conn.Write(buf); err != nil {
			return
		}
	}
}

func readFull(conn net.Conn, buf []byte) error {
	for n := 0; n < len(buf); {
		m, err := conn.Read(buf[n:])
		if err != nil {
			return err
		}
		n += m
	}
	return nil
}

// closedLoop runs b.N exchanges; each client sends the next request when it has its answer.
func closedLoop(b *testing.B, clients int, connect func() (exchange func() error, end func())) {
	var left atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range clients {
		exchange, end := connect()
		if err := exchange(); err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer end()
			<-start
			for left.Add(-1) >= 0 {
				if err := exchange(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	left.Store(int64(b.N))
	b.ResetTimer()
	close(start)
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// BenchmarkPublish: every subscriber gets every publication. The sender waits every 500 messages, below the high-water
// mark.
func BenchmarkPublish(b *testing.B) {
	payload := bytes.Repeat([]byte("s"), 300)
	for _, peers := range []int{1, 20, 1000} {
		b.Run(fmt.Sprintf("subscribers=%d", peers), func(b *testing.B) {
			p, subs := openPub(b, PubOptions{Endpoint: anyPort})
			shared, err := NewContext(1)
			if err != nil {
				b.Fatal(err)
			}
			defer shared.Close()
			ctx, cancel := context.WithCancel(context.Background())
			var readers sync.WaitGroup
			var got atomic.Int64
			round := make(chan struct{}, 1)
			var want atomic.Int64
			for range peers {
				readers.Go(func() {
					s := NewSub(SubOptions{Endpoint: p.Addr(), Context: shared})
					_ = s.serveFrames(ctx, func([][]byte) {
						if got.Add(1) == want.Load() {
							round <- struct{}{}
						}
					})
				})
			}
			for range peers {
				receive(b, "subscription", subs)
			}
			b.ResetTimer()
			for sent := 0; sent < b.N; {
				n := min(500, b.N-sent)
				sent += n
				want.Store(int64(sent * peers))
				for range n {
					if err := p.Send(payload); err != nil {
						b.Fatal(err)
					}
				}
				receive(b, "publications", round)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pub/s")
			b.ReportMetric(float64(b.N*peers)/b.Elapsed().Seconds(), "msg/s")
			cancel()
			readers.Wait()
		})
	}
}
