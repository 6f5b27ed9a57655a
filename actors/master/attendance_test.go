package master

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
	"brine/wire/transport"
)

// claims are topics that name an id, and that anybody can make up.
func claims(id string) []string {
	sum := sha1.Sum([]byte(id))
	return []string{"brine:" + id, "brine:" + id + "\x00", "brine:" + id + "\x00" + strings.Repeat("x", 12),
		hex.EncodeToString(sum[:])}
}

// TestClaimsOfConnections: what somebody says on the publish port who was given no topic makes nobody connected, and
// nobody not connected.
func TestClaimsOfConnections(t *testing.T) {
	r := newRig(t)
	m, other := r.minion("m1"), r.minion("m2")
	r.accept("dead", "minion")
	r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	peers := &r.m.core.book.Peers
	at := func(id string) ledger.State { return peers.At(id, ledger.At(time.Now())) }
	for _, id := range []string{"m1", "dead"} {
		leave := r.subscribe(claims(id)...)
		r.eventually("the stranger", func() error {
			if peers.Connections() < 2 {
				return fmt.Errorf("%d connections", peers.Connections())
			}
			return nil
		})
		if got := at("dead"); got == ledger.LinkUp {
			t.Errorf("dead is connected, somebody says so")
		}
		leave()
		r.eventually("its end", func() error {
			if peers.Connections() > 1 {
				return fmt.Errorf("%d connections", peers.Connections())
			}
			return nil
		})
		if got := at("m1"); got != ledger.LinkUp {
			t.Errorf("m1: %v, for somebody has said that he is m1, and left", got)
		}
	}
	jid := r.publish(payload.M("tgt", "m1,dead", "tgt_type", "list"))
	r.awaitHop(jid, "publish", "")
	equal(t, "gone", payload.AnyList(r.m.Gone(testContext(t), jid, []string{"m1"})), []any{})
	// another minion's, changed
	leave := r.subscribe(strings.Replace(other.link, "m2", "m1", 1), strings.Replace(m.link, "m1", "m2", 1))
	r.eventually("another minion", func() error {
		if peers.Connections() < 2 {
			return fmt.Errorf("%d connections", peers.Connections())
		}
		return nil
	})
	leave()
	if at("m1") != ledger.LinkUp || at("m2") == ledger.LinkUp {
		t.Errorf("m1 %v, m2 %v", at("m1"), at("m2"))
	}
}

// TestLinkFollowsTheKey: a connection of somebody whose key does not count any more is none of the id.
func TestLinkFollowsTheKey(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	r.stop()
	r.start()
	r.awaitLink("m1", ledger.LinkUp) // its topic holds for the next process, before it has signed in there
	if _, err := r.keyStore().Remove(keys.Accepted, "m1"); err != nil {
		t.Fatal(err)
	}
	r.m.core.attendance.Relink("m1")
	r.awaitLink("m1", ledger.LinkDown) // the connection there is not one of whoever will have the id
	r.minion("m1")
	r.awaitLink("m1", ledger.LinkUp)
}

// TestPresentByWhatIsKnown: who is connected for certain is present, and who has left is not, whatever addresses say.
func TestPresentByWhatIsKnown(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	leave := r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	got, err := r.m.core.attendance.Connected()
	if err != nil || got["m1"] != "127.0.0.1" {
		t.Errorf("present: %v, %v", got, err)
	}
	leave()
	r.awaitLink("m1", ledger.LinkDown)
	if got, err := r.m.core.attendance.Connected(); err != nil || len(got) != 0 {
		t.Errorf("present: %v, %v", got, err)
	}
}

// BenchmarkSubscribed is what the master does for the subscriptions of a connection that a minion makes, and for its
// end.
func BenchmarkSubscribed(b *testing.B) {
	r := newRig(b)
	topic := r.minion("m1").link
	subscribed := r.m.core.attendance.Audience().Subscription
	b.ReportAllocs()
	for i := range b.N {
		conn := uint64(i + 1)
		r.m.core.book.Peers.Connection(conn, "192.0.2.1:7", true, 1)
		subscribed(transport.Subscription{Topic: "", Begin: true, Conn: conn})
		subscribed(transport.Subscription{Topic: topic, Begin: true, Conn: conn})
		subscribed(transport.Subscription{Topic: topic})
		r.m.core.book.Peers.Connection(conn, "", false, 1)
	}
}
