package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// These are the number of readers, and the number of events per second.
const (
	streamReaders      = 2000
	streamReadersQuick = 500
	streamEvents       = 100
)

// streams lets many clients read all events while hooks fire them. It measures the greatest delay, the number
// of lost events, and the memory for each reader. Salt's salt-api has one thread for each reader, 100 in all,
// so it takes no part.
func (t *turn) streams(ctx context.Context, a *apiServer) error {
	rows := []string{rowStreamLag, rowStreamLost, rowStreamKB}
	if !t.rec.wantsAny(rows) {
		return nil
	}
	if !t.c.ours {
		t.rec.fail(rows, t.c.name, errors.New("its thread_pool is 100: no more can read"))
		return nil
	}
	n, span := streamReaders, 10*time.Second
	if t.opt.Quick {
		n, span = streamReadersQuick, 5*time.Second
	}
	token, err := a.logIn(ctx)
	if err != nil {
		return err
	}
	before, _ := a.memory()
	readers := make([]*streamReader, n)
	defer func() {
		for _, r := range readers {
			r.close()
		}
	}()
	for i := range readers {
		if readers[i], err = openStream(ctx, a.base, token); err != nil {
			return fmt.Errorf("event stream %d: %w", i+1, err)
		}
	}
	var wg sync.WaitGroup
	for _, r := range readers {
		wg.Go(r.read)
	}
	fired, err := a.fire(ctx, span)
	if err != nil {
		return err
	}
	during, _ := a.memory()
	// missing events show in the result
	_ = t.await(ctx, 10*time.Second, 50*time.Millisecond, func() error { return allOf(readers, fired) })
	var worst, lost int64
	for _, r := range readers {
		worst, lost = max(worst, r.worst.Load()), lost+fired-r.got.Load()
		r.close()
	}
	wg.Wait()
	t.addTime(rowStreamLag, time.Duration(worst))
	t.add(rowStreamLost, float64(lost))
	t.add(rowStreamKB, max(during-before, 0)*1024/float64(n))
	return nil
}

var errBehind = errors.New("some are behind")

func allOf(readers []*streamReader, fired int64) error {
	for _, r := range readers {
		if r.got.Load() < fired {
			return errBehind
		}
	}
	return nil
}

// logIn logs in and returns the session.
func (a *apiServer) logIn(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/login",
		strings.NewReader(`{"username": "bench", "password": "x", "eauth": "auto"}`))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("log in: %s: %w", res.Status, err)
	}
	return res.Header.Get("X-Auth-Token"), nil
}

// fire posts hooks that contain their time of sending, at a fixed rate, and returns their number.
func (a *apiServer) fire(ctx context.Context, span time.Duration) (int64, error) {
	tick := time.NewTicker(time.Second / streamEvents)
	defer tick.Stop()
	var n int64
	for end := time.Now().Add(span); time.Now().Before(end); <-tick.C {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/hook/bench",
			strings.NewReader(fmt.Sprintf(`{"sent": "at=%d="}`, time.Now().UnixNano())))
		if err != nil {
			return n, err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := a.client.Do(req)
		if err != nil {
			return n, err
		}
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			return n, fmt.Errorf("hook: %s: %w", res.Status, err)
		}
		n++
	}
	return n, nil
}

// streamReader is one client of /events.
type streamReader struct {
	conn       net.Conn
	in         *bufio.Reader
	got, worst atomic.Int64 // number of hook events, greatest delay in nanoseconds
}

func openStream(ctx context.Context, base, token string) (*streamReader, error) {
	host := strings.TrimPrefix(base, "http://")
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	r := &streamReader{conn: conn, in: bufio.NewReaderSize(conn, 2048)}
	if _, err := fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\nX-Auth-Token: %s\r\n\r\n", host,
		token); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	for line := ""; !strings.HasPrefix(line, "retry:"); {
		if line, err = r.in.ReadString('\n'); err != nil || strings.HasPrefix(line, "HTTP/1.1 4") {
			return nil, errors.Join(fmt.Errorf("%q: %w", line, err), conn.Close())
		}
	}
	return r, nil
}

func (r *streamReader) close() {
	if r != nil {
		_ = r.conn.Close() // close may run twice
	}
}

// read counts events until the connection ends. An event contains the time twice, in its body and in its parsed
// data.
func (r *streamReader) read() {
	for {
		line, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		i := bytes.LastIndex(line, []byte("at="))
		if i < 0 {
			continue
		}
		digits, _, ok := bytes.Cut(line[i+3:], []byte("="))
		sent, err := strconv.ParseInt(string(digits), 10, 64)
		if !ok || err != nil {
			continue
		}
		r.got.Add(1)
		if late := time.Now().UnixNano() - sent; late > r.worst.Load() {
			r.worst.Store(late)
		}
	}
}
