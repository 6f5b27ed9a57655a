package events

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/modules/netapi/feed"
	"brine/wire/payload"
)

// dayEvents is the number of events in a day, at a hundred a second. Without BRINE_API_DAY the test uses far
// fewer.
const dayEvents = 8_640_000

// TestAStreamOfADay keeps one stream of each kind open for the events of a day. Each event arrives once and in
// order. At the end no more memory is in use than half-way.
func TestAStreamOfADay(t *testing.T) {
	events := dayEvents / 2000
	if os.Getenv("BRINE_API_DAY") != "" {
		events = dayEvents
	}
	bus := newFakeBus()
	f := newFront(t, bus, feed.Limits{Bytes: 1 << 20, Age: time.Hour}) // the ring is full long before half-way
	got := make(chan error, 3)
	begin := make(chan int)
	defer close(begin)
	paths := []string{"/events", "/ws", "/tornado/events"}
	for _, path := range paths {
		conn, in, _ := f.dial(t, path, upgrade...)
		if err := conn.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if path == "/ws" {
			ready(t, conn, in, "\x81\x17"+answerText)
		}
		defer func() { _ = conn.Close() }()
		go count(in, path, begin, got)
	}
	const batch = 100 // small enough that no reader is cut
	var half uint64
	for first := 0; first < events; first += batch {
		if first == events/2/batch*batch {
			half = held()
		}
		for range paths {
			begin <- first
		}
		for i := range batch {
			bus.fire(t, fmt.Sprintf("salt/job/%d/ret/m1", first+i), payload.M("n", first+i, "return", "some words",
				"_stamp", stamp))
		}
		for range paths {
			if err := <-got; err != nil {
				t.Fatal(err)
			}
		}
	}
	if end := held(); end > half+2<<20 {
		t.Errorf("%d KB are held at the end, %d half-way", end>>10, half>>10)
	}
}

// count reads a hundred events after each number from begin.
func count(in *bufio.Reader, path string, begin <-chan int, got chan<- error) {
	for first := range begin {
		next, err := first, error(nil)
		for err == nil && next < first+100 {
			var line string
			line, err = in.ReadString('\n')
			if i := strings.Index(line, `{"data": {"n": `); err == nil && i >= 0 {
				if want := fmt.Sprintf(`{"data": {"n": %d, `, next); !strings.HasPrefix(line[i:], want) {
					err = fmt.Errorf("%s: got %q, want %q", path, line, want)
				}
				next++
			}
		}
		if err == io.EOF || err == net.ErrClosed {
			err = fmt.Errorf("%s ended after %d", path, next)
		}
		got <- err
	}
}

// held is the memory in use.
func held() uint64 {
	runtime.GC()
	runtime.GC() // pools release their content only at the second collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
