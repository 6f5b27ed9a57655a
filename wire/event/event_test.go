package event_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

func TestStaticVectors(t *testing.T) {
	for _, c := range wiretest.Load(t, "eventbus_static").List("events") {
		want := wiretest.Hex(t, c, "body_hex")
		body, err := event.Pack(c.Str("tag"), c.Map("data"), 0)
		if err != nil || !bytes.Equal(body, want) {
			t.Errorf("%s: got %x, %v, want %x", c.Str("tag"), body, err, want)
		}
		tag, data, err := event.Unpack(want)
		if err != nil || tag != c.Str("tag") || !data.Equal(c.Map("unpacked")) || event.Tag(want) != tag {
			t.Errorf("Unpack: %q, %v, %v", tag, data, err)
		}
	}
}

// TestTrimVectors compares with Salt's trimming. The file shortens long texts to "<x*3000>".
func TestTrimVectors(t *testing.T) {
	trim := wiretest.Load(t, "eventbus_static").Doc.Map("trim")
	for _, v := range trim.List("results") {
		c, _ := v.(*payload.Map)
		size, _ := c.Int("max_event_size")
		in := trim.Map("input")
		body, err := event.Pack("tag", in, int(size))
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := event.Unpack(body)
		if err != nil {
			t.Fatal(err)
		}
		if want := expand(c.Map("result")); !got.Equal(want) {
			t.Errorf("at %d: got %v of keys %v", size, got, got.Keys())
		}
		if in.Str("b") != strings.Repeat("x", 3000) {
			t.Fatal("the caller's data was changed")
		}
	}
}

func expand(m *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for k, v := range m.All() {
		switch v := v.(type) {
		case *payload.Map:
			out.Set(k, expand(v))
		case string:
			v = strings.ReplaceAll(v, "<x*3000>", strings.Repeat("x", 3000))
			out.Set(k, strings.ReplaceAll(v, "<y*3000>", strings.Repeat("y", 3000)))
		}
	}
	return out
}

func TestTrimList(t *testing.T) {
	data := payload.M("jid", "20240229131415123456", "return", []any{strings.Repeat("x", 5000)}, "n", 7)
	body, err := event.Pack("t", data, 2000)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := event.Unpack(body)
	if err != nil || got.Str("return") != "VALUE_TRIMMED" || got.Str("jid") != data.Str("jid") || len(body) > 2000 {
		t.Errorf("got %v, %v", got, err)
	}
	// nothing fits: the event is still sent, with its keys
	if body, err = event.Pack("t", data, 10); err != nil || event.Tag(body) != "t" {
		t.Errorf("limit 10: %q, %v", body, err)
	}
}

// TestRecordedEvents reads the bodies of recorded frames and packs them again. Each frame begins with 82 a4 "head" 80
// a4 "body" and a bin header.
func TestRecordedEvents(t *testing.T) {
	n := 0
	for _, s := range wiretest.Load(t, "eventbus_v3").Streams() {
		for i, f := range s.Frames {
			if s.LengthPrefix {
				f = f[4:]
			}
			v, err := payload.UnmarshalBin(f)
			if err != nil {
				t.Fatal(err)
			}
			body := v.(*payload.Map).Bytes("body")
			tag, data, err := event.Unpack(body)
			if err != nil || tag != s.Events[i].Tag || !data.Equal(s.Events[i].Data) {
				t.Errorf("%s event %d: %s, %v", s.Release, i, tag, err)
			}
			if again, err := event.Pack(tag, data, 1<<20); err != nil || !bytes.Equal(again, body) {
				t.Errorf("%s event %s: packed again: %v\n got %x\nwant %x", s.Release, tag, err, again, body)
			}
			n++
		}
	}
	if n != 27 {
		t.Errorf("%d events, want 27", n)
	}
}

func TestPackStamps(t *testing.T) {
	data := payload.M("a", 1)
	before := event.Stamp(time.Now())
	body, err := event.Pack("my/tag", data, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := event.Unpack(body)
	if err != nil {
		t.Fatal(err)
	}
	stamp := got.Str("_stamp")
	if stamp < before || stamp > event.Stamp(time.Now()) || !strings.HasSuffix(stamp, "+00:00") || data.Has("_stamp") {
		t.Errorf("stamp %q, data %v", stamp, data.Keys())
	}
	at := time.Date(2026, 11, 21, 3, 28, 50, 357139000, time.FixedZone("CET", 3600))
	if s := event.Stamp(at); s != "2026-11-21T02:28:50.357139+00:00" {
		t.Errorf("Stamp: %s", s)
	}
}

const layoutOfStamp = "2006-01-02T15:04:05.000000+00:00"

func TestStamp(t *testing.T) {
	cet := time.FixedZone("CET", 3600)
	for _, at := range []time.Time{
		time.Date(2026, 11, 21, 9, 8, 7, 6005999, time.UTC), time.Date(2026, 1, 1, 0, 30, 0, 0, cet), time.Unix(0, 999),
		time.Date(1, 2, 3, 4, 5, 6, 7000, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0,
			0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(10000, 1, 1, 0, 0, 0,
			0, time.UTC),
	} {
		if got, want := event.Stamp(at), at.UTC().Format(layoutOfStamp); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPackAnySize: the stamp is the last field of data of any size.
func TestPackAnySize(t *testing.T) {
	for _, n := range []int{0, 1, 13, 14, 15, 16, 17, 70000} {
		data := payload.NewMap(n)
		for i := range n {
			data.Set(fmt.Sprint("field", i), i)
		}
		body, err := event.Pack("tag", data, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := event.Unpack(body)
		if err != nil || got.Len() != n+1 || got.Keys()[n] != "_stamp" || len(got.Str("_stamp")) != len(layoutOfStamp) {
			t.Errorf("%d fields: %v, %d fields", n, err, got.Len())
		}
		if data.Len() != n {
			t.Errorf("%d fields: data has changed", n)
		}
	}
	if body, err := event.Pack("tag", nil, 0); err != nil || len(body) != len("tag\n\n")+1+7+2+len(layoutOfStamp) {
		t.Errorf("no data: %q, %v", body, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tag := range []string{"", "a\n\nb", "a\n", "\n\n", "a\xff", "a\nb", "a\x00b", "\x1b[31m", "a\u0085",
		"a\u2028b", "a\ufffd", strings.Repeat("a", payload.MaxTag+1)} {
		if b, err := event.Pack(tag, payload.M(), 0); !errors.Is(err, event.ErrBadTag) {
			t.Errorf("Pack(%q): %x, %v", tag, b, err)
		}
	}
	if _, err := event.Pack("t", payload.M("f", func() {}), 0); !errors.Is(err, payload.ErrUnencodable) {
		t.Errorf("data with a func: %v", err)
	}
	for _, body := range []string{"", "tag", "tag\n\x80", "\n\n\x80", "tag\n\n", "tag\n\n\x05", "tag\n\n\x80\x80",
		"t\xff\n\n\x80"} {
		if tag, _, err := event.Unpack([]byte(body)); !errors.Is(err, event.ErrMalformed) {
			t.Errorf("Unpack(%q): %q, %v", body, tag, err)
		}
	}
	if tag, _, err := event.Unpack([]byte("a\nb\n\n\x80")); err != nil || tag != "a\nb" {
		t.Errorf("one newline in a tag: %q, %v", tag, err)
	}
}

func TestNames(t *testing.T) {
	f := wiretest.Load(t, "names")
	for id, v := range f.Doc.Map("minion_sockets").All() {
		for hash, names := range v.(*payload.Map).All() {
			pub, pull, err := event.MinionSockets(id.(string), hash.(string))
			if want := names.([]any); err != nil || pub != want[0] || pull != want[1] {
				t.Errorf("MinionSockets(%s, %s) = %s, %s, %v", id, hash, pub, pull, err)
			}
		}
	}
	if _, _, err := event.MinionSockets("m1", "crc32"); err == nil {
		t.Error("an unknown hash_type passes")
	}
	for _, hash := range []string{"sha1", "sha224", "sha384", "sha512"} {
		if pub, _, err := event.MinionSockets("m1", hash); err != nil ||
			len(pub) != len("minion_event_0123456789_pub.ipc") {
			t.Errorf("%s: %s, %v", hash, pub, err)
		}
	}
	for _, c := range f.List("tagify") {
		parts := []string{"salt", "", ""}
		args := c.List("args")
		if len(args) > 2 {
			parts[0] = args[2].(string)
		}
		parts[1] = args[1].(string)
		parts = parts[:2]
		if list, ok := args[0].([]any); ok {
			for _, p := range list {
				parts = append(parts, fmt.Sprint(p))
			}
		} else {
			parts = append(parts, args[0].(string))
		}
		if got := event.Join(parts...); got != c.Str("tag") {
			t.Errorf("Join(%q) = %s, want %s", parts, got, c.Str("tag"))
		}
	}
}

func TestTags(t *testing.T) {
	for got, want := range map[string]string{
		event.TagJobNew("1"):                      "salt/job/1/new",
		event.TagJobPublish("1"):                  "salt/job/1/publish",
		event.TagJobStart("1", "m"):               "salt/job/1/start/m",
		event.TagJobReturn("1", "m"):              "salt/job/1/ret/m",
		event.TagJobSubError("1", "m", "f.g"):     "salt/job/1/sub/m/error/f.g",
		event.TagJobError("1"):                    "salt/job/1/error",
		event.TagJobError(""):                     "salt/job/error",
		event.TagMinionStarted("m"):               "salt/minion/m/start",
		event.TagMinionRefresh("m"):               "minion/refresh/m",
		event.TagResourceRefresh("m"):             "resource/refresh/m",
		event.TagRun("1"):                         "salt/run/1",
		event.TagWheel("1"):                       "salt/wheel/1",
		event.TagSyndicJob("1"):                   "syndic/job/1",
		event.TagStats("MWorker-1"):               "salt/stats/MWorker-1",
		event.TagBatch("1", "new"):                "salt/batch/1/new",
		event.TagMinionComplete("pillar_refresh"): "/salt/minion/minion_pillar_refresh_complete",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, s := range wiretest.Load(f, "eventbus_v3").Streams() {
		for _, b := range s.Frames {
			f.Add(b[20:])
		}
	}
	for _, c := range wiretest.Load(f, "eventbus_static").List("events") {
		f.Add(wiretest.Hex(f, c, "body_hex"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tag, data, err := event.Unpack(b)
		if err != nil {
			if !errors.Is(err, event.ErrMalformed) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		packed, err := event.Pack(tag, data, 0)
		if err != nil {
			t.Fatalf("cannot pack what was read: %q, %v", tag, err)
		}
		if _, err := event.Pack(tag, data, 64); err != nil {
			t.Fatalf("cannot trim: %v", err)
		}
		if again, _, err := event.Unpack(packed); err != nil || again != tag || event.Tag(b) != tag {
			t.Fatalf("tag %q became %q, %v", tag, again, err)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	data := payload.M("cmd", "_return", "id", "minion-1.example.com", "success", true, "return", true, "retcode", 0,
		"jid", "20240229131415123456", "fun", "test.ping", "fun_args", []any{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Pack("salt/job/20240229131415123456/ret/minion-1.example.com", data, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
