package supervisor_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
)

// frame is a message of bytes; the byte kill kills its actor.
type frame struct {
	bytes []byte
	lost  chan error
}

const kill = 0xff

func (f *frame) Content() []byte { return f.bytes }

func (f *frame) Lost(why error) {
	if f.lost != nil {
		f.lost <- why
	}
}

// bare is a message without content; empty is a message without fields.
type (
	bare  struct{ text string }
	empty struct{}
)

// mortal is the Spec of an actor that dies of bad messages and passes on the others.
func mortal(name string) (spec supervisor.Spec, got chan any, lost chan error) {
	got, lost = make(chan any, 100), make(chan error, 100)
	spec = script(name)
	inner := spec.New
	spec.New = func() supervisor.Actor {
		a := inner()
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			switch m := ctx.Message().(type) {
			case *frame:
				if m.bytes[0] == kill {
					supervisor.Crash(errBoom)
				}
				got <- m
			case *bare, *empty:
				supervisor.Crash(errBoom)
			default:
				a.Receive(ctx)
			}
		})
	}
	spec.OnLost = func(_ any, why error) { lost <- why }
	return spec, got, lost
}

func expectLoss(t testing.TB, lost <-chan error, want ...error) {
	t.Helper()
	for i, w := range want {
		if why := actortest.Wait(t, "loss", lost); !errors.Is(why, w) {
			t.Fatalf("loss %d: got %v, want %v", i, why, w)
		}
	}
}

func TestMessageThatKillsTwiceIsSetAside(t *testing.T) {
	told := make(chan stats.Quarantined, 10)
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{Logger: log.Logger(), OnQuarantine: func(q stats.Quarantined) {
		told <- q
	}})
	spec, got, lost := mortal("a")
	ref := add(t, s, spec)
	bad, good := []byte{kill, 1}, []byte{1, 2}
	for range 2 {
		ref.Send(&frame{bytes: bad})
		ref.Send(&frame{bytes: []byte{kill, 2}[:1]}) // another message
	}
	expectLoss(t, lost, supervisor.ErrCrashed, supervisor.ErrCrashed, supervisor.ErrCrashed, supervisor.ErrCrashed)
	q := actortest.Wait(t, "news", told)
	sum := sha256.Sum256(bad)
	if q.Path != "test/a" || q.Name != "a" || q.Message != "*supervisor_test.frame" ||
		q.Hash != hex.EncodeToString(sum[:]) || q.Size != 2 || q.Reason != "boom" {
		t.Errorf("got %+v", q)
	}
	log.Await(t, "WARN message set aside")
	before := incarnation(t, ref)
	ours := &frame{bytes: bad, lost: make(chan error, 1)}
	ref.Send(ours)
	ref.Send(&frame{bytes: bad})
	ref.Send(&frame{bytes: good})
	expectLoss(t, ours.lost, supervisor.ErrQuarantined)
	expectLoss(t, lost, supervisor.ErrQuarantined, supervisor.ErrQuarantined)
	if m := actortest.Wait(t, "good message", got).(*frame); m.bytes[0] != 1 {
		t.Errorf("got %v", m.bytes)
	}
	if n := incarnation(t, ref); n != before || before != 5 {
		t.Errorf("incarnation %d, was %d", n, before)
	}
	c := s.Snapshot()[0]
	if c.Quarantined != 2 || len(c.Quarantine) != 2 || c.Quarantine[0] != q || c.DeadLetters["quarantined"] != 2 ||
		c.DeadLetters["crashed"] != 4 || c.Lost != 6 || c.Failed != 4 {
		t.Errorf("got %d set aside, %d shown, dead letters %v, %d lost, %d failed", c.Quarantined, len(c.Quarantine),
			c.DeadLetters, c.Lost, c.Failed)
	}
}

// TestMessageThatHangsTwiceIsSetAside: abandoning an actor with a message counts as a death.
func TestMessageThatHangsTwiceIsSetAside(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{WaitForKill: time.Millisecond})
	over := make(chan struct{})
	defer close(over)
	reached, lost := make(chan struct{}, 10), make(chan error, 10)
	spec := supervisor.Spec{Name: "a", OnLost: func(_ any, why error) { lost <- why }, New: func() supervisor.Actor {
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if _, ok := ctx.Message().(*frame); ok {
				reached <- struct{}{}
				<-over
			}
		})
	}}
	ref := add(t, s, spec)
	for range 2 {
		ref.Send(&frame{bytes: []byte("x")})
		actortest.Wait(t, "hanging handler", reached)
		if err := s.Restart("a"); err != nil {
			t.Fatal(err)
		}
		expectLoss(t, lost, supervisor.ErrAbandoned)
	}
	ref.Send(&frame{bytes: []byte("x")})
	expectLoss(t, lost, supervisor.ErrQuarantined)
}

// TestMessageWithoutContent: such messages are the same only if they are the same value.
func TestMessageWithoutContent(t *testing.T) {
	told := make(chan stats.Quarantined, 10)
	s := actortest.Start(t, supervisor.Options{RestartDelayMax: 1, OnQuarantine: func(q stats.Quarantined) {
		told <- q
	}})
	spec, _, lost := mortal("a")
	ref := add(t, s, spec)
	for range 3 {
		ref.Send(&bare{"alike"})
		ref.Send(&empty{})
		expectLoss(t, lost, supervisor.ErrCrashed, supervisor.ErrCrashed)
	}
	same := &bare{"same"}
	for range 2 {
		ref.Send(same)
		expectLoss(t, lost, supervisor.ErrCrashed)
	}
	text := "*supervisor_test.bare &{text:same}"
	sum := sha256.Sum256([]byte(text))
	if q := actortest.Wait(t, "news", told); q.Hash != hex.EncodeToString(sum[:]) || q.Size != len(text) {
		t.Errorf("got %+v", q)
	}
	ref.Send(same)
	expectLoss(t, lost, supervisor.ErrQuarantined)
	if len(told) != 0 {
		t.Errorf("set aside: %+v", <-told)
	}
}

// TestPoolSharesItsQuarantine: a message that has killed two workers of a pool kills no third one.
func TestPoolSharesItsQuarantine(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{Pool: true})
	var refs [3]*supervisor.Ref
	var lost [3]chan error
	for i := range refs {
		var spec supervisor.Spec
		spec, _, lost[i] = mortal(fmt.Sprintf("MWorker-%d", i))
		refs[i] = add(t, s, spec)
	}
	for i, want := range []error{supervisor.ErrCrashed, supervisor.ErrCrashed, supervisor.ErrQuarantined} {
		refs[i].Send(&frame{bytes: []byte{kill}})
		expectLoss(t, lost[i], want)
	}
}

// TestQuarantineIsBounded: a peer that always sends new deadly messages costs only limited memory.
func TestQuarantineIsBounded(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{RestartDelayMax: 1})
	spec, _, lost := mortal("a")
	ref := add(t, s, spec)
	deadly := func(n int) *frame { return &frame{bytes: []byte{kill, byte(n)}} }
	for n := range 200 { // the first ones are dropped before they come again
		ref.Send(deadly(n))
		expectLoss(t, lost, supervisor.ErrCrashed)
	}
	ref.Send(deadly(0))
	ref.Send(deadly(199))
	expectLoss(t, lost, supervisor.ErrCrashed, supervisor.ErrCrashed)
	ref.Send(deadly(199))
	expectLoss(t, lost, supervisor.ErrQuarantined)
	if c := s.Snapshot()[0]; c.Quarantined != 1 {
		t.Errorf("got %d", c.Quarantined)
	}
}

// careless is a message whose Content panics.
type careless struct{ _ int }

func (*careless) Content() []byte { panic("ouch") }

func TestCarelessContent(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, _, lost := mortal("a")
	ref := add(t, s, spec)
	for range 2 {
		ref.Send(&frame{bytes: []byte{kill}})
		expectLoss(t, lost, supervisor.ErrCrashed)
	}
	ref.Send(&careless{})
	expectLoss(t, lost, supervisor.ErrUnhandled)
	if n := incarnation(t, ref); n != 3 {
		t.Errorf("got incarnation %d, want 3", n)
	}
}
