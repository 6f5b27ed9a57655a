package netapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// take takes the body of a request.
func take(ctx context.Context, b *Bodies, from, body string) (*Intake, error) {
	r := httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(body))
	return b.Take(httptest.NewRecorder(), r, from, Limits{Longest: 16 << 20})
}

// taken is the body of a request, which there is room for.
func taken(t testing.TB, b *Bodies, body string) *Intake {
	t.Helper()
	in, err := take(t.Context(), b, "192.0.2.1", body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

// heavy are bodies of each kind that come to far more than their length: the parts that are repeated, and what stands
// around them.
var heavy = map[string]struct{ kind, before, part, after string }{
	"JSON list":      {TypeJSON, "[", "1,", "1]"},
	"JSON maps":      {TypeJSON, "[", "{},", "1]"},
	"JSON as text":   {typeText, "[", "[],", "1]"},
	"YAML flow":      {TypeYAML, "[", "1,", "1]"},
	"YAML block":     {textYAML, "", "- 1\n", ""},
	"YAML keys":      {TypeYAML, "[", "a: 1,", "1]"},
	"form":           {typeForm, "", "a=1&", ""},
	"form, words":    {typeForm, "", "arg=1&", ""},
	"form, one word": {typeForm, "arg=[", "1,", "1]"},
	"form, kwarg":    {typeForm, "kwarg={a: [", "1,", "1]}"},
}

// TestHeavyBodies: whatever the kind, a body of the longest length is refused when what it means is too much, its room
// is given back, and one of moderate length is read.
func TestHeavyBodies(t *testing.T) {
	const longest = 4 << 20
	for name, h := range heavy {
		b := NewBodies(longest)
		of := func(length int) string { return h.before + strings.Repeat(h.part, length/len(h.part)) + h.after }
		in := taken(t, b, of(longest-1024))
		if _, err := in.Read(h.kind); statusOf(err) != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		if in.spent > b.one+lastStep+1<<20 {
			t.Errorf("%s: it came to %d bytes", name, in.spent)
		}
		in.Close()
		in = taken(t, b, of(64<<10))
		if got, err := in.Read(h.kind); err != nil || got.Data == nil {
			t.Errorf("%s, a short one: %v", name, err)
		}
		in.Close()
		if !b.crowd.Enter("all", leastAll) {
			t.Errorf("%s: room is not given back", name)
		}
	}
}

// TestLongBodies: text that means little else than text is read up to the longest length, in every kind.
func TestLongBodies(t *testing.T) {
	b, text := NewBodies(16<<20), strings.Repeat("some text, and more: of it\\n", 590_000)
	for kind, body := range map[string]string{TypeJSON: `{"arg": "` + text + `"}`, TypeYAML: `{"arg": "` + text + `"}`,
		typeForm: "data=" + text, typeText: text} {
		in := taken(t, b, body)
		got, err := in.Read(kind)
		if m, _ := got.Data.(*payload.Map); err != nil || m == nil && kind != typeText {
			t.Errorf("%s: %v", kind, err)
		}
		in.Close()
	}
}

// TestRoomForBodies: all bodies that are waited for have one room; an address does not get all of it, and others find
// some.
func TestRoomForBodies(t *testing.T) {
	b, body := NewBodies(4<<20), strings.Repeat(" ", 900_000)
	n := 0
	for ; n < 1000; n++ {
		in, err := take(t.Context(), b, "192.0.2.1", body)
		if err != nil {
			if statusOf(err) != http.StatusServiceUnavailable {
				t.Error(err)
			}
			break
		}
		defer in.Close()
	}
	if n < 4 || n > 40 {
		t.Errorf("an address has %d", n)
	}
	if in, err := take(t.Context(), b, "198.51.100.1", body); err != nil {
		t.Errorf("another address: %v", err)
	} else {
		in.Close()
	}
	small := 0
	for ; small < 4096; small++ { // as many as there are calls
		in, err := take(t.Context(), b, fmt.Sprint("203.0.113.", small%250), `{"client": "local"}`)
		if err != nil {
			t.Fatalf("%d small ones: %v", small, err)
		}
		defer in.Close()
	}
}

// TestBodyEndsWithClient: the work on a body ends when its client ends.
func TestBodyEndsWithClient(t *testing.T) {
	gone := errors.New("gone")
	for name, h := range heavy {
		ctx, cancel := context.WithCancelCause(t.Context())
		in, err := take(ctx, NewBodies(16<<20), "192.0.2.1", h.before+strings.Repeat(h.part, 1<<18)+h.after)
		if err != nil {
			t.Fatal(err)
		}
		cancel(gone)
		if _, err := in.Read(h.kind); !errors.Is(err, gone) {
			t.Errorf("%s: %v", name, err)
		}
		in.Close()
	}
}

// TestLingering: who declares a large body that is not wanted is answered before he has sent it, and sees the answer
// when he sends it first.
func TestLingering(t *testing.T) {
	b := NewBodies(1 << 20)
	server := httptest.NewServer(Lingering(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, err := b.Take(w, r, "192.0.2.1", Limits{Longest: 1 << 20})
		if in.Close(); err != nil {
			http.Error(w, "no", statusOf(err))
			return
		}
		_, _ = io.WriteString(w, "yes")
	})))
	defer server.Close()
	dial := func(length int) net.Conn {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length); err != nil {
			t.Fatal(err)
		}
		return c
	}
	answer := func(c net.Conn, want int) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != want || want != 200 && !resp.Close {
			t.Errorf("%d %s, %v, close: %v", resp.StatusCode, text, err, resp.Close)
		}
	}
	answer(dial(1<<30), 413) // he sends nothing before he has read
	c := dial(40 << 20)
	if n, err := c.Write(make([]byte, 40<<20)); err != nil {
		t.Errorf("he could send %d bytes: %v", n, err)
	}
	answer(c, 413)
	c = dial(1 << 20)
	if _, err := c.Write(make([]byte, 1<<20)); err != nil {
		t.Error(err)
	}
	answer(c, 200)
}
