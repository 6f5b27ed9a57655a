package auth

import (
	"strings"
	"testing"
)

// TestLink: only a minion and its master know the minion's topic; it changes with the keys of both.
func TestLink(t *testing.T) {
	at := newMaster(t, nil)
	m, _ := newMinion(t, nil)
	signInAt(t, m, at)
	if err := at.keys.Put("m1", StateAccepted, at.keys.pub["m1"]); err != nil {
		t.Fatal(err)
	}
	step, _ := signInAt(t, m, at)
	topic := step.Link
	if LinkID(topic) != "m1" || !at.Vouches(topic) {
		t.Fatalf("topic %q of %q", topic, LinkID(topic))
	}
	if again, _ := signInAt(t, m, at); again.Link != topic {
		t.Error("another sign-in gave another topic")
	}
	other := newMaster(t, nil) // after a restart
	other.keys.state["m1"], other.keys.pub["m1"] = StateAccepted, at.keys.pub["m1"]
	if !other.Vouches(topic) {
		t.Error("the next process does not know the topic")
	}
	mac := topic[len(topic)-linkSize:]
	other.keys.state["m2"], other.keys.pub["m2"] = StateAccepted, at.keys.pub["m1"]
	for _, claim := range []string{"", "brine:", "brine:m1", "brine:m1\x00", "brine:m1\x00" + mac[:linkSize-1],
		"brine:m1\x00" + strings.Repeat("\x00", linkSize), "brine:m2\x00" + mac, "brine:\x00" + mac,
		"brine:../m1\x00" + mac, "brine:m1\n\x00" + mac, "brine:never\x00" + mac, "brine:m1" + mac, topic + "\x00",
		topic[1:]} {
		if other.Vouches(claim) {
			t.Errorf("vouches for %q", claim)
		}
	}
	other.keys.pub["m1"] = keysOf(t).pub("other")
	if other.Vouches(topic) {
		t.Error("the topic holds for another key")
	}
	delete(at.keys.state, "m1")
	if at.Vouches(topic) {
		t.Error("the topic holds without a key")
	}
}

// TestLinkIsSealed: a peer that has a minion's public key can request the answer to its sign-in, but cannot read the
// topic in it.
func TestLinkIsSealed(t *testing.T) {
	at := newMaster(t, func(o *MasterOptions) { o.OpenMode, o.MinimumAuthVersion = true, 2 })
	m, _ := newMinion(t, nil)
	frame, err := m.Request()
	if err != nil {
		t.Fatal(err)
	}
	reply, _ := at.Handle(decodeRequest(t, frame), testTime)
	step := m.Reply(reply)
	if mac := step.Link[max(0, len(step.Link)-linkSize):]; mac == "" || strings.Contains(string(reply), mac) {
		t.Errorf("%+v: the topic can be read", step)
	}
	old, _ := newMinion(t, func(o *MinionOptions) { o.MaxVersion = 2 })
	if step, _ := signInAt(t, old, at); step.Verdict != Accepted || step.Link != "" {
		t.Errorf("without a session: %+v", step)
	}
}
