package payload_test

import (
	"bytes"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// wrong are values of types that no field has.
var wrong = []any{nil, int64(7), 1.5, []byte{0xff}, payload.M("a", int64(1)), payload.Ext{Type: 1, Data: []byte{1}}}

// packed is a load in packed form.
func packed(t *testing.T, m *payload.Map) []byte {
	t.Helper()
	b, err := payload.MarshalBin(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestJob(t *testing.T) {
	load := payload.M("fun", "test.ping", "arg", []any{"a"}, "tgt", "m*", "jid", "20260102030405000001", "ret",
		" a,,b ", "tgt_type", "glob", "user", "root", "metadata", payload.M("k", "v"), "schedule", "s1", "start_event",
		true, "delimiter", "|", "of a later release", int64(1))
	before := packed(t, load)
	j := payload.NewJob(load)
	got := []any{j.JID(), j.Fun(), j.Function(), j.Arg(), j.Tgt(), j.TgtType(), j.Delimiter(), j.User(),
		j.Metadata().Str("k"), j.Schedule(), j.StartEvent(), j.Lacks()}
	want := []any{"20260102030405000001", "test.ping", "test.ping", []any{"a"}, "m*", "glob", "|", "root", "v", "s1",
		true, ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, j.Returners()); diff != "" {
		t.Error(diff)
	}
	several := payload.NewJob(payload.M("fun", []any{"a.b", "c.d"}, "tgt", []any{"m1", "m2"}))
	if several.Function() != "" || len(several.Fun().([]any)) != 2 || len(several.Listed()) != 2 ||
		several.Lacks() != "jid" {
		t.Errorf("several functions: %q, %v, %v, lacks %q", several.Function(), several.Fun(), several.Listed(),
			several.Lacks())
	}
	if !bytes.Equal(before, packed(t, j.Map())) {
		t.Error("the load has changed")
	}
}

// TestWrongTypes: a field of a wrong type reads as missing, and is passed on unchanged.
func TestWrongTypes(t *testing.T) {
	for _, v := range wrong {
		load := payload.M("unknown", "kept", "jid", v, "fun", v, "arg", v, "tgt", v, "tgt_type", v, "ret", v, "user", v,
			"schedule", v, "start_event", v, "delimiter", v, "id", v, "fun_args", v, "return", v, "success", v)
		before := packed(t, load)
		j, r := payload.NewJob(load), payload.NewReturn(load)
		texts := []string{j.JID(), j.Function(), j.TgtType(), j.User(), j.Schedule(), j.Delimiter(), r.ID(), r.JID(),
			r.Function(), r.Text()}
		if diff := cmp.Diff(make([]string, len(texts)), texts); diff != "" {
			t.Errorf("%T: %s", v, diff)
		}
		good, said := r.Success()
		if j.Returners() != nil || j.Listed() != nil || j.StartEvent() || r.FunArgs() != nil || good || !said ||
			!r.HasValue() {
			t.Errorf("%T: %v, %v, %v, %v, %v, %v", v, j.Returners(), j.Listed(), j.StartEvent(), r.FunArgs(), good,
				said)
		}
		for _, raw := range []any{j.Fun(), j.Arg(), j.Tgt(), r.Fun(), r.Value(), j.Field("user")} {
			if !payload.Equal(raw, v) {
				t.Errorf("%T: got %v as it came", v, raw)
			}
		}
		if j.Lacks() != "" {
			t.Errorf("%T: lacks %s", v, j.Lacks())
		}
		if !bytes.Equal(before, packed(t, j.Map())) || !bytes.Equal(before, packed(t, r.Map())) {
			t.Errorf("%T: the load has changed", v)
		}
	}
	if code := payload.NewReturn(payload.M("retcode", "3")).Code(); code != 0 {
		t.Errorf("a retcode of text: %d", code)
	}
}

// TestReturnFails: the reason replaces the result, and unknown fields stay.
func TestReturnFails(t *testing.T) {
	load := payload.M("jid", "1", "later", "kept", "success", true, "return", payload.M("big", "x"), "retcode",
		int64(0), "fun", "a.b", "fun_args", []any{"x"}, "last", int64(2))
	r := payload.NewReturn(load)
	failed := r.Clone().Fail("why").DropArgs()
	want := payload.M("jid", "1", "later", "kept", "success", false, "return", "why", "retcode", int64(1), "fun", "a.b",
		"fun_args", []any{}, "last", int64(2))
	if !failed.Map().Equal(want) {
		t.Errorf("got %v", failed.Map())
	}
	if good, said := r.Success(); !good || !said || r.Value() == nil || failed.Text() != "why" || failed.Code() != 1 {
		t.Errorf("the one that was copied: %v, %v, %v", good, said, r.Value())
	}
	if _, said := payload.NewReturn(payload.NewMap(0)).Success(); said {
		t.Error("nothing says something of success")
	}
}

// TestPass: only existing fields are passed on, unchanged.
func TestPass(t *testing.T) {
	to := payload.M("id", "m1")
	payload.NewJob(payload.M("ret_kwargs", int64(5), "user", "x", "metadata", nil)).Pass(to, payload.FieldRetConfig,
		payload.FieldRetKwargs, payload.FieldMetadata)
	if want := payload.M("id", "m1", "ret_kwargs", int64(5), "metadata", nil); !to.Equal(want) {
		t.Errorf("got %v", to)
	}
}

// TestReturnToAMaster: the fields that a master adds to a return.
func TestReturnToAMaster(t *testing.T) {
	r := payload.NewReturn(payload.M("id", "m1", "fun", "test.ping", "fun_args", []any{"a"}, "resource_id", "r1",
		"later", 1))
	if id, has := r.Resource(); id != "r1" || !has {
		t.Errorf("resource %q, %v", id, has)
	}
	r.TakeResource()
	r.Number("20260102030405000001")
	want := payload.M("id", "r1", "fun", "test.ping", "fun_args", []any{"a"}, "later", 1, "arg", []any{"a"}, "tgt_type",
		"glob", "tgt", "r1", "jid", "20260102030405000001")
	if !bytes.Equal(packed(t, r.Map()), packed(t, want)) {
		t.Errorf("got %v, want %v", r.Map(), want)
	}
	if _, has := r.Resource(); has {
		t.Error("it is still of a resource")
	}
	own := payload.NewReturn(payload.M("id", "m1", "arg", []any{"b"}, "fun_args", []any{"a"}))
	own.Number("1")
	if !payload.Equal(own.Field("arg"), []any{"b"}) {
		t.Errorf("arg %v", own.Field("arg"))
	}
	if id, has := payload.NewReturn(payload.M("resource_id", int64(1))).Resource(); id != "" || !has {
		t.Errorf("a resource that is no text: %q, %v", id, has)
	}
}
