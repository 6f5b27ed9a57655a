package events

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/modules/netapi/feed"
	"brine/wire/payload"
)

// Readers run in a separate process, so that the benchmark measures the resources of the server alone.
const (
	benchAddr    = "BRINE_BENCH_ADDR"
	benchReaders = "BRINE_BENCH_READERS"
	benchPath    = "BRINE_BENCH_PATH"
	benchTokens  = "BRINE_BENCH_TOKENS" // not empty: each reader has its own token
	benchTLS     = "BRINE_BENCH_TLS"    // not empty: the readers use TLS
)

// readersOf tells how the readers of a benchmark connect.
type readersOf struct {
	path        string
	tokens, tls bool
}

func (r readersOf) String() string {
	name := strings.ReplaceAll(strings.Trim(r.path, "/"), "/", "-")
	if r.tokens {
		name += "-tokens"
	}
	if r.tls {
		name += "-tls"
	}
	return name
}

// BenchmarkReaders serves 100 events a second to 2,000 readers for ten seconds. KB/reader is the server's
// resident memory for each reader. lag-ms is the greatest delay of any reader. asked/s is how often per second
// the master was asked about a token, which takes it a millisecond.
func BenchmarkReaders(b *testing.B) {
	for _, of := range []readersOf{
		{path: "/events"}, {path: "/ws"}, {path: "/tornado/events"}, {path: "/events", tokens: true},
		{path: "/ws", tokens: true}, {path: "/events", tls: true}, {path: "/ws", tls: true},
		{path: "/events", tokens: true, tls: true},
	} {
		b.Run(of.String(), func(b *testing.B) { benchReadersOf(b, of, 2000, 100, 10*time.Second) })
	}
}

func benchReadersOf(b *testing.B, of readersOf, readers, rate int, span time.Duration) {
	bus := newFakeBus()
	f := newFrontOf(b, bus, feed.Limits{}, of.tls)
	f.pause = time.Millisecond
	debug.FreeOSMemory()
	before := resident(b)
	cmd := exec.Command(os.Args[0], "-test.run", "TestBenchClient$")
	cmd.Env = append(os.Environ(), benchAddr+"="+f.addr, benchReaders+"="+strconv.Itoa(readers), benchPath+"="+of.path)
	if of.tokens {
		cmd.Env = append(cmd.Env, benchTokens+"=1")
	}
	if of.tls {
		cmd.Env = append(cmd.Env, benchTLS+"=1")
	}
	stop, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for deadline := time.Now().Add(patience); len(f.hub.Readers()) < readers; <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("%d readers", len(f.hub.Readers()))
		}
	}
	<-time.After(time.Second) // the websockets become ready
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	most, asked := int64(0), f.asked.Load()
	for i := range int(span/time.Second) * rate {
		<-tick.C
		bus.fire(b, fmt.Sprint("salt/job/", i, "/ret/m1"), payload.M("cmd", "_return", "id", "m1", "success", true,
			"return", strings.Repeat("x", 300), "retcode", 0, "jid", fmt.Sprint(i), "fun", "test.ping", "fun_args",
			[]any{}, "t", time.Now().UnixNano()))
		if i%rate == 0 {
			most = max(most, resident(b))
		}
	}
	left, asked := len(f.hub.Readers()), f.asked.Load()-asked
	<-time.After(time.Second)
	_ = stop.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatalf("%v: %s", err, out.String())
	}
	var lag, fewest int64
	if _, err := fmt.Sscanf(out.String(), "lag %d fewest %d", &lag, &fewest); err != nil {
		b.Fatalf("%v: %s", err, out.String())
	}
	b.ReportMetric(float64(most-before)/1024/float64(readers), "KB/reader")
	b.ReportMetric(float64(lag)/1e6, "lag-ms")
	b.ReportMetric(float64(asked)/span.Seconds(), "asked/s")
	b.ReportMetric(float64(fewest), "fewest-events")
	b.ReportMetric(float64(left), "readers")
	b.ReportMetric(0, "ns/op")
}

// resident is the resident memory of this process in bytes.
func resident(b *testing.B) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestBenchClient is the process with the readers of a benchmark.
func TestBenchClient(t *testing.T) {
	addr := os.Getenv(benchAddr)
	if addr == "" {
		t.Skip("it is for BenchmarkReaders")
	}
	n, err := strconv.Atoi(os.Getenv(benchReaders))
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv(benchPath)
	var worst atomic.Int64
	counts := make([]int64, n)
	conns := make([]net.Conn, n)
	var wg sync.WaitGroup
	for i := range n {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv(benchTLS) != "" {
			conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the peer is the test itself
		}
		conns[i] = conn
		head := "GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\n"
		if os.Getenv(benchTokens) != "" {
			head += fmt.Sprintf("X-Auth-Token: %x\r\n", i)
		}
		if strings.HasSuffix(path, "ws") {
			head += strings.Join(upgrade, "\r\n") + "\r\n"
		}
		if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { counts[i] = follow(conn, strings.HasSuffix(path, "ws"), &worst) })
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range conns {
		_ = c.Close()
	}
	wg.Wait()
	fewest := counts[0]
	for _, c := range counts {
		fewest = min(fewest, c)
	}
	fmt.Fprintf(os.Stdout, "lag %d fewest %d\n", worst.Load(), fewest)
}

// follow reads a stream, counts its events and notes the greatest delay.
func follow(conn net.Conn, ws bool, worst *atomic.Int64) (events int64) {
	room := make([]byte, 16<<10)
	for first := true; ; first = false {
		n, err := conn.Read(room)
		if err != nil {
			return events
		}
		if first && ws {
			if _, err := io.WriteString(conn, text(readyText)); err != nil {
				return events
			}
		}
		now := time.Now().UnixNano()
		events += int64(bytes.Count(room[:n], []byte(`"t": `)))
		i := bytes.Index(room[:n], []byte(`"t": `)) // the oldest event in this read
		if i < 0 || n < i+24 {
			continue
		}
		if at, err := strconv.ParseInt(string(room[i+5:i+24]), 10, 64); err == nil {
			for old := worst.Load(); now-at > old && !worst.CompareAndSwap(old, now-at); old = worst.Load() {
			}
		}
	}
}
