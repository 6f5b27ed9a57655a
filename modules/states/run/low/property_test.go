package low

import (
	"fmt"
	"slices"
	"testing"

	"brine/modules/states/run/high"
	"brine/wire/payload"

	"pgregory.net/rapid"
)

// anyHigh draws high data whose states require earlier ones only, so that there is no circle.
func anyHigh(t *rapid.T) *payload.Map {
	n := rapid.IntRange(1, 12).Draw(t, "states")
	ids := rapid.Permutation(payload.AnyList(make([]int64, n))).Draw(t, "shuffle")
	for i := range ids {
		ids[i] = fmt.Sprintf("s%02d", i)
	}
	data := payload.NewMap(n)
	for i, id := range rapid.Permutation(ids).Draw(t, "ids") {
		args := []any{"nop"}
		if rapid.Bool().Draw(t, "ordered") {
			orders := []any{int64(1), int64(5), int64(-1), "first", "last", 2.5}
			args = append(args, payload.M("order", rapid.SampledFrom(orders).Draw(t, "order")))
		}
		if rapid.Bool().Draw(t, "named") {
			args = append(args, payload.M("names", []any{id.(string) + "x", id.(string) + "y"}))
		}
		earlier := data.Keys()
		if i > 0 && rapid.Bool().Draw(t, "waits") {
			kinds := []string{"require", "watch", "onchanges", "onfail", "require_any"}
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			args = append(args, payload.M(kind, []any{payload.M("test", rapid.SampledFrom(earlier).Draw(t, "for"))}))
		}
		data.Set(id, payload.M("test", args, high.SLSKey, "t", high.EnvKey, "base"))
	}
	return data
}

// TestNothingBeforeItsRequisites: each chunk comes after all that it waits for, whatever the orders say; all chunks are
// there, and the same data has the same order.
func TestNothingBeforeItsRequisites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := anyHigh(t)
		chunks, errs := Compile(data, Options{})
		again, _ := Compile(data, Options{})
		if errs != nil || !payload.Equal(payload.AnyList(chunks), payload.AnyList(again)) {
			t.Fatalf("errors %q; %v, and then %v", errs, chunks, again)
		}
		want := 0
		for _, v := range data.All() {
			want++
			if slices.ContainsFunc(v.(*payload.Map).List("test"), func(arg any) bool {
				m, _ := arg.(*payload.Map)
				return m.Has("names")
			}) {
				want++
			}
		}
		if len(chunks) != want {
			t.Fatalf("%d chunks, want %d", len(chunks), want)
		}
		for i, chunk := range chunks {
			for _, kind := range followed {
				for _, ref := range chunk.List(kind) {
					for _, later := range chunks[i:] {
						if later.Value("__id__") == ref.(*payload.Map).Value("test") {
							t.Fatalf("%v comes before %v", chunk, later)
						}
					}
				}
			}
		}
	})
}
