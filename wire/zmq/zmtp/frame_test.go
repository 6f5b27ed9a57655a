package zmtp

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readAll cuts a stream that comes in pieces of n bytes. A frame is shown as its flags and its body.
func readAll(stream []byte, n, limit int) ([]string, error) {
	r := frameReader{limit: limit}
	var got []string
	for len(stream) > 0 {
		piece := stream[:min(n, len(stream))]
		stream = stream[len(piece):]
		err := r.feed(bytes.Clone(piece), func(flags byte, body []byte) error {
			got = append(got, string('0'+flags&^flagLong)+":"+string(body))
			return nil
		})
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 256)
	stream := AppendMessage(nil, nil, []byte("payload"))
	stream = AppendMessage(stream, []byte(long))
	stream = append(stream, command("PING", []byte{0, 0})...)
	stream = AppendMessage(stream, []byte(long[:255]), nil)
	want := []string{"1:", "0:payload", "0:" + long, "4:\x04PING\x00\x00", "1:" + long[:255], "0:"}
	for _, n := range []int{1, 2, 3, 7, 64, 1 << 20} {
		got, err := readAll(stream, n, 1000)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("in pieces of %d: %v %s", n, err, d)
		}
	}
}

func TestSize(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 70000} {
		frames := [][]byte{nil, make([]byte, n)}
		if got, want := Size(frames...), len(AppendMessage(nil, frames...)); got != want {
			t.Errorf("Size with %d bytes: got %d, want %d", n, got, want)
		}
	}
}

func TestBadFrames(t *testing.T) {
	for name, stream := range map[string]string{
		"reserved flag":     "\x08\x00",
		"command with more": "\x05\x01x",
		"too long":          "\x02\x00\x00\x00\x00\x00\x00\x03\xe9",
		"negative length":   "\x02\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		if _, err := readAll([]byte(stream), 1, 1000); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: got %v, want ErrProtocol", name, err)
		}
	}
}

// A length costs nothing until the bytes come.
func TestLengthIsNotBelieved(t *testing.T) {
	r := frameReader{limit: 1 << 40}
	if err := r.feed([]byte("\x02\x00\x00\x00\x40\x00\x00\x00\x00only this"), nil); err != nil {
		t.Fatal(err)
	}
	if c := cap(r.body); c > firstAlloc {
		t.Errorf("%d bytes set aside for nine that came", c)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(AppendMessage(nil, nil, []byte("payload")), 3)
	f.Add(AppendMessage(nil, make([]byte, 300)), 100)
	f.Add(command("READY", property("Socket-Type", "REQ"), property("Identity", "x")), 1)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		whole, err := readAll(stream, len(stream)+1, 1000)
		pieces, err2 := readAll(stream, max(1, n%50), 1000)
		if d := cmp.Diff(whole, pieces); d != "" || (err == nil) != (err2 == nil) {
			t.Errorf("the pieces read differently: %v, %v %s", err, err2, d)
		}
	})
}

func FuzzReady(f *testing.F) {
	f.Add([]byte(string(property("Socket-Type", "REQ")) + string(property("Identity", "x"))))
	f.Add([]byte("\x01a\x00\x00\x00\x02b"))
	f.Fuzz(func(t *testing.T, args []byte) {
		_, identity, err := readReady(args)
		if err == nil && len(identity) > maxIdentity {
			t.Errorf("identity of %d bytes", len(identity))
		}
	})
}
