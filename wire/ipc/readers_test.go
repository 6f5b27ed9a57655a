package ipc

import (
	"context"
	"net"
	"syscall"
	"testing"
	"time"
)

// stopped connects to a bus and reads nothing.
func stopped(t testing.TB, s *PubServer) net.Conn {
	t.Helper()
	conn, err := Dial(context.Background(), s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// serving starts a bus that reports each new subscriber.
func serving(t testing.TB, opt PubOptions) (*PubServer, <-chan *Subscriber) {
	t.Helper()
	connected := make(chan *Subscriber, 64)
	opt.Path, opt.OnConnect = t.TempDir()+"/s", func(sub *Subscriber) { connected <- sub }
	s := NewPubServer(opt)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s, connected
}

// TestStoppedReader: the queue of a subscriber that has stopped reading stays within its limit and loses the oldest
// events; another subscriber gets all of them.
func TestStoppedReader(t *testing.T) {
	const most, size, events = 1 << 20, 1000, 5000
	s, connected := serving(t, PubOptions{QueueBytes: most})
	stopped(t, s)
	slow := <-connected
	fast, err := Subscribe(context.Background(), s.Addr(), FramingPlain)
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	<-connected
	body := make([]byte, size)
	for range events {
		s.Publish(body)
		if _, err := fast.NextBody(within(t)); err != nil {
			t.Fatal(err)
		}
		if n := slow.Stats().Bytes; n > most {
			t.Fatalf("%d bytes wait for the one that does not read", n)
		}
	}
	if got := slow.Stats(); got.Dropped == 0 || got.Bytes < most-2*size {
		t.Errorf("got %+v", got)
	}
}

// BenchmarkReaders sends events to twenty readers that get all of them, and to one that has stopped.
func BenchmarkReaders(b *testing.B) {
	const readers, window = 20, 256
	s, connected := serving(b, PubOptions{QueueBytes: 8 << 20})
	stopped(b, s)
	slow := <-connected
	var subs []*Subscription
	for range readers {
		sub, err := Subscribe(context.Background(), s.Addr(), FramingPlain)
		if err != nil {
			b.Fatal(err)
		}
		subs = append(subs, sub)
		<-connected
	}
	read := make(chan error, readers)
	turns := make([]chan int, readers)
	for i, sub := range subs {
		turns[i] = make(chan int, 1)
		go func() {
			for n := range turns[i] {
				var err error
				for ; n > 0 && err == nil; n-- {
					_, err = sub.NextBody(context.Background())
				}
				read <- err
			}
		}()
	}
	body := make([]byte, 300)
	began := used(b)
	b.ResetTimer()
	for left := b.N; left > 0; left -= window {
		n := min(left, window)
		for _, turn := range turns {
			turn <- n
		}
		for range n {
			s.Publish(body)
		}
		for range readers {
			if err := <-read; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	// for both ends; the machine has other work too
	b.ReportMetric(float64((used(b)-began).Nanoseconds())/float64(b.N), "cpu-ns/event")
	b.ReportMetric(float64(slow.Stats().Bytes)/(1<<20), "MiB-held")
	for i, sub := range subs {
		close(turns[i])
		_ = sub.Close()
	}
}

// used is the processor time of this process.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
