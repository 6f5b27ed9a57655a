package auth

import (
	"fmt"
	"testing"
	"time"

	"brine/wire/payload"
)

// slowKeys is a KeyStore that blocks for one id until the test releases it.
type slowKeys struct {
	*memKeys
	id      string
	entered chan string // ids of the calls of Get
	let     chan struct{}
}

func (k *slowKeys) Get(id string) (state, pub string, err error) {
	k.entered <- id
	return k.memKeys.Get(id)
}

func (k *slowKeys) Put(id, state, pub string) error {
	if id == k.id {
		<-k.let
	}
	return k.memKeys.Put(id, state, pub)
}

// TestSignInsSideBySide: while a key is being stored slowly, sign-ins of its own id wait, and those of other ids do
// not.
func TestSignInsSideBySide(t *testing.T) {
	keys := &slowKeys{memKeys: newKeys(), id: "slow", entered: make(chan string, 9), let: make(chan struct{})}
	at := newMaster(t, func(o *MasterOptions) { o.Keys = keys; o.Rules.AcceptAll = true })
	other := "other"
	for n := 0; at.decide.of(other) == at.decide.of("slow"); n++ {
		other = fmt.Sprint("other", n)
	}
	done := make(chan string, 3)
	signIn := func(id string) {
		req := &payload.Request{Enc: payload.EncClear, Version: 3, Load: signInLoad(t, id, "minion")}
		go func() {
			_, out := at.Handle(req, testTime)
			done <- out.Act + " " + id
		}()
	}
	next := func(c <-chan string) string {
		t.Helper()
		select {
		case s := <-c:
			return s
		case <-time.After(time.Minute):
			t.Fatal("nothing happens")
			return ""
		}
	}
	signIn("slow")
	if got := next(keys.entered); got != "slow" {
		t.Fatalf("asked for %s", got)
	}
	signIn("slow")
	signIn(other)
	if got := next(keys.entered); got != other {
		t.Errorf("asked for %s", got)
	}
	if got := next(done); got != "accept "+other {
		t.Errorf("first done: %s", got)
	}
	close(keys.let)
	for range 2 {
		if got := next(done); got != "accept slow" {
			t.Errorf("done: %s", got)
		}
	}
	if at.sessions.len() != 2 {
		t.Errorf("%d sessions", at.sessions.len())
	}
}
