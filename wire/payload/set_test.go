package payload

import "testing"

// TestSet: a set is packed as a list, but Equal and Canon do not treat it as a list.
func TestSet(t *testing.T) {
	for _, pack := range []func(any) ([]byte, error){Marshal, MarshalBin} {
		got, err := pack(Set{"a", int64(1)})
		if err != nil {
			t.Fatal(err)
		}
		want, err := pack([]any{"a", int64(1)})
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("packed as %x, want %x", got, want)
		}
	}
	if s, ok := Canon(Set{1}).(Set); !ok || !Equal(s, Set{int64(1)}) {
		t.Errorf("Canon of a set: %#v", Canon(Set{1}))
	}
	if Equal(Set{"a"}, []any{"a"}) || Equal(Set{"a"}, Set{"b"}) {
		t.Error("a set equals a list, or another set")
	}
}
