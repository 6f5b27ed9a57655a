package supervisor_test

import (
	"errors"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"
)

// TestRefBeforeChild: a Ref that was made first becomes the Ref of one child only.
func TestRefBeforeChild(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{Name: "s"})
	ref, lost := supervisor.NewRef(), make(chan error, 1)
	if ref.Send(&lostTold{lost}) {
		t.Error("a message was taken before the child was there")
	}
	if err := actortest.Wait(t, "loss", lost); !errors.Is(err, supervisor.ErrGone) {
		t.Errorf("lost with %v", err)
	}
	spec := script("a")
	spec.Ref = ref
	if made := add(t, s, spec); made != ref || ref.Path() != "s/a" {
		t.Errorf("another Ref, of %q", ref.Path())
	}
	if n := incarnation(t, ref); n != 1 {
		t.Errorf("incarnation %d answers", n)
	}
	spec.Name = "b"
	if _, err := s.Add(spec); err == nil {
		t.Error("two children have one Ref")
	}
}

type lostTold struct{ why chan error }

func (m *lostTold) Lost(why error) { m.why <- why }
