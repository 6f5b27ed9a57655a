package auth

import (
	"errors"
	"testing"

	"brine/wire/payload"
)

// atOnce makes sign-in requests of the same minion to two masters, with one TrustStore, before either has answered.
func atOnce(t *testing.T, trust *memTrust, change func(*MinionOptions), masters ...masterRig) (sides []*Minion,
	steps []Step) {
	t.Helper()
	var replies [][]byte
	for _, at := range masters {
		m, _ := newMinion(t, func(o *MinionOptions) {
			o.Trust = trust
			if change != nil {
				change(o)
			}
		})
		if err := at.keys.Put("m1", StateAccepted, m.pub); err != nil {
			t.Fatal(err)
		}
		frame, err := m.Request()
		if err != nil {
			t.Fatal(err)
		}
		reply, _ := at.Handle(decodeRequest(t, frame), testTime)
		sides, replies = append(sides, m), append(replies, reply)
	}
	for i, m := range sides {
		steps = append(steps, m.Reply(replies[i]))
	}
	return sides, steps
}

// TestOneMasterIsTrusted: a minion asks two masters with different keys at the same time, at its first start. It trusts
// the one that answers first. It never makes a session with the other one.
func TestOneMasterIsTrusted(t *testing.T) {
	a := newMaster(t, nil)
	d := newMaster(t, func(o *MasterOptions) { o.Key = keysOf(t).private("other") })
	trust := &memTrust{}
	sides, steps := atOnce(t, trust, nil, a, d)
	if steps[0].Verdict != Accepted || !steps[0].NewMaster || trust.master != a.pubKey || trust.sets != 1 {
		t.Fatalf("the first: %+v, %d keys were stored", steps[0], trust.sets)
	}
	for range 2 {
		if steps[1].Verdict != Failed || sides[1].SignedIn() || trust.master != a.pubKey {
			t.Errorf("the second: %+v, signed in: %v", steps[1], sides[1].SignedIn())
		}
		if _, _, err := sides[1].Seal(payload.M("cmd", "x")); !errors.Is(err, ErrNotSignedIn) {
			t.Errorf("a request to the second: %v", err)
		}
		steps[1], _ = signInAt(t, sides[1], d)
	}
	if step, _ := signInAt(t, sides[0], a); step.Verdict != Accepted || !sides[0].SignedIn() {
		t.Errorf("the first goes on: %+v", step)
	}
}

// TestTwoMastersOfOneKey: masters that share a key are both trusted, in any order of their answers.
func TestTwoMastersOfOneKey(t *testing.T) {
	trust := &memTrust{}
	sides, steps := atOnce(t, trust, nil, newMaster(t, nil), newMaster(t, nil))
	for i, step := range steps {
		if step.Verdict != Accepted || !sides[i].SignedIn() || trust.sets != 1 {
			t.Errorf("%d: %+v, %d keys were stored", i, step, trust.sets)
		}
	}
}
