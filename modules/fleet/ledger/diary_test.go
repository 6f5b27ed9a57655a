package ledger

import (
	"slices"
	"testing"
)

// TestRefusals reads what a minion says it has refused, and nothing else.
func TestRefusals(t *testing.T) {
	d := NewDiary(1)
	for i := range maxRefusals + 1 {
		d.Refuse(Refusal{Stamp(i + 1), "why", OutcomeNotReady})
	}
	all := d.Refusals()
	if len(all) != maxRefusals || all[0].At != 2 {
		t.Errorf("kept %v", all)
	}
	if got := ReadRefusals(PackRefusals(all)); !slices.Equal(got, all) {
		t.Errorf("got %v, want %v", got, all)
	}
	odd := []any{nil, "x", []any{}, []any{int64(1), "why"}, []any{"1", "why", "unopened"},
		[]any{int64(1), 2, "unopened"}, []any{int64(1), "why", 3}, []any{int64(1), "why", "done"},
		[]any{int64(1), "why", "unopened"}}
	if got := ReadRefusals(odd); !slices.Equal(got, []Refusal{{1, "why", Unopened}}) {
		t.Errorf("got %v", got)
	}
}
