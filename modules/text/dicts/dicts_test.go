package dicts_test

import (
	"testing"

	"brine/modules/text/dicts"
	"brine/wire/payload"
)

func TestTraverse(t *testing.T) {
	data := payload.M("a", payload.M("b", []any{"x", payload.M("c", int64(5)), payload.M(int64(3), "three")}), int64(1),
		"one", "n", nil)
	for _, tt := range []struct {
		path, delim string
		want        any
		ok          bool
	}{
		{"a:b:0", ":", "x", true},
		{"a:b:-2:c", ":", int64(5), true},
		{"a:b:c", ":", int64(5), true},
		{"a:b:3", ":", "three", true},
		{"a:b:9", ":", nil, false},
		{"a:b:z", ":", nil, false},
		{"a/b/0", "/", "x", true},
		{"a:x", ":", nil, false},
		{"1", ":", "one", true},
		{"n", ":", nil, true},
		{"n:x", ":", nil, false},
		{"a:b:0:y", ":", nil, false},
	} {
		got, ok := dicts.Traverse(data, tt.path, tt.delim)
		if ok != tt.ok || !payload.Equal(got, tt.want) {
			t.Errorf("Traverse(%s): got %v %v, want %v %v", tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestUpdate(t *testing.T) {
	build := func() *payload.Map {
		return payload.M("m", payload.M("a", int64(1), "b", int64(2)), "l", []any{"x", "y"}, "s", "old")
	}
	upd := payload.M("m", payload.M("b", int64(3), "c", int64(4)), "l", []any{"y", "z"}, "s", payload.M("k", "v"),
		"new", true)
	got := build()
	dicts.Update(got, upd, false)
	want := payload.M("m", payload.M("a", int64(1), "b", int64(3), "c", int64(4)), "l", []any{"y", "z"}, "s",
		payload.M("k", "v"), "new", true)
	if !got.Equal(want) {
		t.Errorf("lists replaced: %v", got)
	}
	got = build()
	dicts.Update(got, upd, true)
	if !payload.Equal(got.Value("l"), []any{"x", "y", "z"}) {
		t.Errorf("lists merged: %v", got.Value("l"))
	}
}

func TestIsTrue(t *testing.T) {
	for _, v := range []any{true, int64(1), 0.5, "1", "TRUE", "true", "2.5", []any{nil}, payload.M("a", 1)} {
		if !dicts.IsTrue(v) {
			t.Errorf("IsTrue(%v) is false", v)
		}
	}
	for _, v := range []any{nil, false, int64(0), int64(-1), "", "yes", "0", "-1", "false", []any{},
		payload.NewMap(0)} {
		if dicts.IsTrue(v) {
			t.Errorf("IsTrue(%v) is true", v)
		}
	}
}

func TestClone(t *testing.T) {
	inner := payload.M("l", []any{"x"})
	data := payload.M("m", inner)
	got := dicts.Clone(data).(*payload.Map)
	inner.Set("l", "changed")
	if !payload.Equal(got, payload.M("m", payload.M("l", []any{"x"}))) {
		t.Errorf("the copy changed with the original: %v", got)
	}
}

func TestFilterBy(t *testing.T) {
	table := payload.M("Debian", payload.M("pkg", "apache2"), "Red*", payload.M("pkg", "httpd"),
		"default", payload.M("pkg", "none"), "base", payload.M("pkg", "x", "svc", "web"))
	in := payload.M("os_family", "RedHat", "list", []any{"zzz", "Debian"}, "n", int64(5))
	for _, tt := range []struct {
		name    string
		f       dicts.FilterBy
		want    any
		wantErr string
	}{
		{"glob", dicts.FilterBy{Path: "os_family", Default: "default"}, payload.M("pkg", "httpd"), ""},
		{"list", dicts.FilterBy{Path: "list", Default: "default"}, payload.M("pkg", "apache2"), ""},
		{"default", dicts.FilterBy{Path: "nope", Default: "default"}, payload.M("pkg", "none"), ""},
		{"no default", dicts.FilterBy{Path: "nope", Default: "zzz"}, nil, ""},
		{"base", dicts.FilterBy{Path: "list", Default: "default", Base: "base"}, payload.M("pkg", "apache2", "svc",
			"web"), ""},
		{"base alone", dicts.FilterBy{Path: "nope", Default: "zzz", Base: "base"}, payload.M("pkg", "x", "svc", "web"),
			""},
		{"merge", dicts.FilterBy{Path: "list", Default: "default", Merge: payload.M("a", "b")},
			payload.M("pkg", "apache2", "a", "b"), ""},
		{"bad merge", dicts.FilterBy{Path: "list", Default: "default", Merge: "x"}, nil,
			"filter_by merge argument must be a dictionary."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.f.Table, tt.f.In = table, in
			got, errText := tt.f.Pick()
			if errText != tt.wantErr || !payload.Equal(got, tt.want) {
				t.Errorf("got %v %q, want %v %q", got, errText, tt.want, tt.wantErr)
			}
		})
	}
}

// TestMergedLists has the answers of salt.utils.dictupdate.merge of 3008.3.
func TestMergedLists(t *testing.T) {
	for _, tt := range []struct{ a, b, want []any }{
		{[]any{int64(1)}, []any{int64(2), int64(2)}, []any{int64(1), int64(2), int64(2)}},
		{[]any{int64(1), int64(0)}, []any{true, 1.0, false, "1"}, []any{int64(1), int64(0), "1"}},
		{[]any{[]any{1.0}}, []any{[]any{int64(1)}, []any{int64(1), int64(2)}},
			[]any{[]any{1.0}, []any{int64(1), int64(2)}}},
		{[]any{payload.M("k", true)}, []any{payload.M("k", int64(1)), payload.M("k", nil)}, []any{payload.M("k", true),
			payload.M("k", nil)}},
	} {
		got, err := dicts.Merging{Strategy: "smart", Renderer: "jinja|yaml", Lists: true}.Merge(payload.M("l", tt.a),
			payload.M("l", tt.b))
		if want := payload.M("l", tt.want); err != nil || !payload.Equal(got, want) {
			t.Errorf("%v and %v: got %v, %v", tt.a, tt.b, got, err)
		}
	}
}
