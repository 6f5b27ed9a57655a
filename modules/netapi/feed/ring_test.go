package feed

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"brine/wire/event"
	"brine/wire/payload"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pack(t testing.TB, tag string, data *payload.Map) []byte {
	t.Helper()
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestAnEventAsJSON(t *testing.T) {
	e := newEvent(pack(t, "salt/x", payload.M("a", []any{1, "ü", nil, true, 1.5}, "_stamp", "now")), time.Now())
	const want = `{"data": {"a": [1, "ü", null, true, 1.5], "_stamp": "now"}, "tag": "salt/x"}`
	if e.JSON() != want {
		t.Errorf("got  %s\nwant %s", e.JSON(), want)
	}
	if e.Data().Str("_stamp") != "now" {
		t.Errorf("data: %v", e.Data())
	}
}

// TestBytesAsJSON: an event with bytes, or with a key that is none in JSON, is a whole line.
func TestBytesAsJSON(t *testing.T) {
	for _, tt := range []struct {
		data *payload.Map
		want string
	}{
		{payload.M("der", []byte{0x30, 0x82, 0xff}, "text", []byte("ab"), "_stamp", "now"),
			`{"data": {"der": "MIL/", "text": "ab", "_stamp": "now"}, "tag": "salt/x"}`},
		{payload.M("a", 1, "_stamp", "now").Set(payload.Bytes("\xff"), []any{[]byte{0xff}}),
			`{"data": {"a": 1, "_stamp": "now", "/w==": ["/w=="]}, "tag": "salt/x"}`},
	} {
		if got := newEvent(pack(t, "salt/x", tt.data), time.Now()).JSON(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestWhatIsNoEventIsEmpty(t *testing.T) {
	for _, body := range []string{"", "tag", "tag\n\n", "tag\n\n\xc1", "\n\n\x80", "\xff\n\n\x80"} {
		e := newEvent([]byte(body), time.Now())
		if e.JSON() != "" || e.Data() != nil {
			t.Errorf("%q: got %s, %v", body, e.JSON(), e.Data())
		}
	}
}

func TestAllReadersShareAnEvent(t *testing.T) {
	r := NewRing(Limits{})
	one, _ := r.Admit("a")
	two, _ := r.Admit("b")
	r.Add(pack(t, "salt/x", payload.M()), time.Now())
	got, err := one.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := two.Next(t.Context())
	if err != nil || other[0] != got[0] {
		t.Errorf("the second reader got another event: %v, %v", other, err)
	}
}

func TestTheRingIsBounded(t *testing.T) {
	r := NewRing(Limits{Bytes: 100_000})
	for range 1000 {
		r.Add(make([]byte, 10_000), time.Now())
	}
	if _, n := r.Count(); n != 2 || r.bytes > 100_000 {
		t.Errorf("%d events of %d bytes are kept", n, r.bytes)
	}
	r.Add(make([]byte, 1_000_000), time.Now())
	if _, n := r.Count(); n != 1 {
		t.Errorf("%d events are kept beside a huge one", n)
	}
	r.Expire(time.Now().Add(time.Hour))
	if _, n := r.Count(); n != 0 || r.bytes != 0 {
		t.Errorf("%d events of %d bytes are kept for ever", n, r.bytes)
	}
	r = NewRing(Limits{Events: 10})
	for range 1000 {
		r.Add(nil, time.Now())
	}
	if _, n := r.Count(); n != 10 {
		t.Errorf("%d events are kept, want 10", n)
	}
}

func TestReadersAreBounded(t *testing.T) {
	r := NewRing(Limits{Readers: 5, Each: 3})
	admit := func(from string, want error) *Stream {
		t.Helper()
		s, err := r.Admit(from)
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", from, err, want)
		}
		return s
	}
	for range 3 {
		admit("10.0.0.1", nil)
	}
	admit("10.0.0.1", ErrFull)
	one := admit("10.0.0.2", nil)
	admit("10.0.0.3", nil)
	admit("10.0.0.4", ErrFull)
	one.Close()
	one.Close()
	admit("10.0.0.4", nil).SetName("admin at 10.0.0.4")
	list := r.Readers()
	if len(list) != 5 || list[4].Name() != "admin at 10.0.0.4" || list[0].Name() != "10.0.0.1" {
		t.Errorf("%d readers, the last is %q", len(list), list[4].Name())
	}
	r.End(ErrStopped)
	admit("10.0.0.5", ErrStopped)
	if _, err := list[0].Next(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("after the end: %v", err)
	}
}

// readers that come, go and stop while events come find each event once and in order, or fall out.
func TestManyAtOnce(t *testing.T) {
	const events = 3000
	r := NewRing(Limits{Events: 500})
	var wg sync.WaitGroup
	for i := range 50 {
		s, err := r.Admit(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer s.Close()
			for next := 0; next < events; {
				got, err := s.Next(t.Context())
				if errors.Is(err, ErrSlow) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range got {
					if e.Tag != fmt.Sprint("t/", next) {
						t.Errorf("reader %d: got %s, want %d", i, e.Tag, next)
						return
					}
					next++
				}
			}
		})
	}
	for i := range events {
		r.Add(pack(t, fmt.Sprint("t/", i), payload.M()), time.Now())
		r.Rouse()
	}
	wg.Wait()
	if n, _ := r.Count(); n != 0 {
		t.Errorf("%d readers are left", n)
	}
}
