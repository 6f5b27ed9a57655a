package ipc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

func TestStaticFrames(t *testing.T) {
	for _, c := range wiretest.Load(t, "eventbus_static").List("events") {
		body, want := wiretest.Hex(t, c, "body_hex"), wiretest.Hex(t, c, "frame_hex")
		if got := EncodeFrame(body, FramingPlain); !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, want %x", c.Str("tag"), got, want)
		}
		for _, key := range []string{"frame_hex", "frame_old_raw_hex"} {
			got, err := NewReader(bytes.NewReader(wiretest.Hex(t, c, key)), FramingDetect).Next()
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s of %s: got %x, %v", key, c.Str("tag"), got, err)
			}
		}
	}
}

// TestRecordedStreams reads every recorded stream to its end, also one byte at a time, and writes it again.
func TestRecordedStreams(t *testing.T) {
	for _, f := range wiretest.LoadAll(t, "eventbus_3006", "eventbus_3007", "eventbus_v3") {
		for i, s := range f.Streams() {
			framing := FramingPlain
			if s.LengthPrefix {
				framing = FramingLength
			}
			name := fmt.Sprintf("%s stream %d of %s", f.Name, i, s.Socket)
			for _, r := range []*Reader{
				NewReader(bytes.NewReader(s.Bytes), framing),
				NewReader(iotest.OneByteReader(bytes.NewReader(s.Bytes)), FramingDetect),
			} {
				checkStream(t, name, r, s, framing)
			}
		}
	}
}

func checkStream(t *testing.T, name string, r *Reader, s wiretest.Stream, f Framing) {
	t.Helper()
	var again []byte
	for _, want := range s.Events {
		body, err := r.Next()
		if err != nil {
			t.Fatalf("%s: before %s: %v", name, want.Tag, err)
		}
		tag, data, err := event.Unpack(body)
		if err != nil || tag != want.Tag || !data.Equal(want.Data) {
			t.Errorf("%s: got %s, %v, want %s", name, tag, err, want.Tag)
		}
		again = append(again, EncodeFrame(body, f)...)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("%s: at the end: %v", name, err)
	}
	if !bytes.Equal(again, s.Bytes) {
		t.Errorf("%s: written again differs\n got %x\nwant %x", name, again, s.Bytes)
	}
}

// TestPushed reads streams that were written to real pull sockets, with and without a length.
func TestPushed(t *testing.T) {
	for _, m := range wiretest.Load(t, "eventbus_v3").List("pushed") {
		body, err := NewReader(bytes.NewReader(wiretest.Hex(t, m, "frame_hex")), FramingDetect).Next()
		if err != nil || event.Tag(body) != m.Str("tag") {
			t.Errorf("%s: %q, %v", m.Str("tag"), body, err)
		}
	}
}

func TestFrameSizes(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 255, 256, 65535, 65536, 1 << 20, 17 << 20} {
		body := bytes.Repeat([]byte("x"), n)
		for _, f := range []Framing{FramingPlain, FramingLength} {
			stream := append(EncodeFrame(body, f), EncodeFrame([]byte("next"), f)...)
			r := NewReader(bytes.NewReader(stream), FramingDetect)
			if got, err := r.Next(); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d bytes, framing %d: %d bytes, %v", n, f, len(got), err)
			}
			if got, err := r.Next(); err != nil || string(got) != "next" {
				t.Errorf("after %d bytes, framing %d: %q, %v", n, f, got, err)
			}
		}
	}
}

// TestHeads reads frames with a non-empty head, as sent by clients that expect an answer.
func TestHeads(t *testing.T) {
	heads := []any{
		payload.M("mid", 7), payload.M("mid", "text", "x", []any{1.5, nil, true, -1, 70000, int64(5e9), -40000,
			int64(-3e9)}),
		payload.M("t", payload.Ext{Type: 5, Data: []byte("abc")}, "u", payload.Ext{Type: 6, Data: make([]byte, 16)},
			"b", []byte("b")),
		payload.M("l", make([]int, 20), "s", strings.Repeat("s", 300), "e",
			payload.Ext{Type: 1, Data: make([]byte, 300)}),
		payload.M("m", func() *payload.Map {
			m := payload.NewMap(0)
			for i := range 40 {
				m.Set(i, i-20)
			}
			return m
		}()),
	}
	for i, h := range heads {
		for _, m := range []*payload.Map{payload.M("head", h, "body", []byte("B")), payload.M("body", []byte("B"),
			"head", h)} {
			b, err := payload.MarshalBin(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := NewReader(bytes.NewReader(b), FramingDetect).Next(); err != nil || string(got) != "B" {
				t.Errorf("head %d: %q, %v", i, got, err)
			}
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	deep := "\x82\xa4head" + strings.Repeat("\x91", maxHeadDepth+2) + "\x80\xa4body\xa1x"
	for name, b := range map[string]string{
		"text": "GET / HTTP/1.1\r\n", "list": "\x92\x01\x02", "no body": "\x81\xa4head\x80",
		"two bodies": "\x82\xa4body\xa1a\xa4body\xa1b", "body is a map": "\x81\xa4body\x80",
		"key is a number": "\x81\x01\xa1x", "many fields": "\xde\x01\x00", "0xc1": "\x82\xa4head\xc1",
		"length too big": "\x08\x00\x00\x01\x82", "length too short": "\x00\x00\x00\x05\x82\xa4head\x80\xa4body\xa1x",
		"length too long": "\x00\x00\x00\x20\x81\xa4body\xa1x", "deep head": deep,
		"huge body": "\x81\xa4body\xc6\xff\xff\xff\xff",
		"huge head": "\x82\xa4head\xc6\xff\xff\xff\xff",
	} {
		if body, err := NewReader(strings.NewReader(b), FramingDetect).Next(); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	whole := EncodeFrame([]byte("tag\n\n\x80"), FramingLength)
	for n := 1; n < len(whole); n++ {
		if body, err := NewReader(bytes.NewReader(whole[:n]), FramingDetect).Next(); err != io.ErrUnexpectedEOF {
			t.Errorf("cut after %d: %q, %v", n, body, err)
		}
	}
	if _, err := NewReader(strings.NewReader(""), FramingDetect).Next(); err != io.EOF {
		t.Errorf("empty: %v", err)
	}
}

// TestReaderMemory promises 100 MiB and sends nothing.
func TestReaderMemory(t *testing.T) {
	for _, b := range []string{"\x81\xa4body\xc6\x06\x40\x00\x00", "\x06\x40\x00\x20\x81\xa4body\xc6\x06\x40\x00\x00"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewReader(strings.NewReader(b), FramingDetect).Next()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 || err != io.ErrUnexpectedEOF {
			t.Errorf("claimed %d bytes, %v", got, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, file := range wiretest.LoadAll(f, "eventbus_3006", "eventbus_v3") {
		for _, s := range file.Streams() {
			f.Add(s.Bytes)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b), FramingDetect)
		for range len(b) + 1 {
			body, err := r.Next()
			if err != nil {
				if !errors.Is(err, ErrFrame) && err != io.EOF && err != io.ErrUnexpectedEOF {
					t.Fatalf("error of another kind: %v", err)
				}
				return
			}
			for _, framing := range []Framing{FramingPlain, FramingLength} {
				got, err := NewReader(bytes.NewReader(EncodeFrame(body, framing)), FramingDetect).Next()
				if err != nil || !bytes.Equal(got, body) {
					t.Fatalf("a body does not survive: %x, %v", body, err)
				}
			}
		}
		t.Fatal("the stream does not end")
	})
}

func FuzzControlMessage(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x80"))
	f.Add([]byte("\x00\x00\x00\x0b\x81\xa3cmd\xa5stats"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readMessage(bytes.NewReader(b), maxRequest); err == nil && m == nil {
			t.Fatal("no message and no error")
		}
	})
}

func BenchmarkEncodeFrame(b *testing.B) {
	body := make([]byte, 300)
	b.ReportAllocs()
	for b.Loop() {
		EncodeFrame(body, FramingPlain)
	}
}

func BenchmarkReader(b *testing.B) {
	frame := EncodeFrame(make([]byte, 300), FramingLength)
	r := NewReader(&loop{frame: frame}, FramingDetect)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// loop reads the same frame forever.
type loop struct {
	frame []byte
	at    int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.frame[l.at:])
	l.at = (l.at + n) % len(l.frame)
	return n, nil
}
