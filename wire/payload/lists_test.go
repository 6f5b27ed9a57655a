package payload

import (
	"slices"
	"testing"
)

func TestLists(t *testing.T) {
	if got := AnyList([]string{"b", "a"}); !slices.Equal(got, []any{"b", "a"}) {
		t.Errorf("AnyList: %v", got)
	}
	if got := AnyList[string](nil); got == nil || len(got) > 0 {
		t.Errorf("AnyList of nothing: %#v, want an empty list", got)
	}
	for _, v := range []any{nil, "text", []string{"a"}, 5, []any{}, []any{nil, 1, []byte("x")}} {
		if got := Texts(v); len(got) > 0 {
			t.Errorf("Texts of %#v: %v", v, got)
		}
	}
	if got := Texts([]any{"b", int64(1), "a", nil}); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("Texts: %v", got)
	}
}
