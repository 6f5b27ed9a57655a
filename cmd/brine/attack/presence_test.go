package attack

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// dead is the id of a minion that was connected once.
const dead = "dead"

// presenceSite is a master with the honest minion and a dead one.
func presenceSite(t *testing.T) *site {
	s := newSite(t, "")
	d := s.startMinion(dead, "")
	s.connected(dead, "yes")
	d.kill()
	began := time.Now()
	s.connected(dead, "no")
	t.Logf("that a minion was killed was known after %v", time.Since(began))
	return s
}

// roster tells for each minion whether it is connected.
func (s *site) roster() map[string]string {
	s.t.Helper()
	r := s.tool("brine", "minions", "--json")
	var said struct {
		Minions []struct{ ID, Connected string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &said); err != nil {
		s.t.Fatalf("brine minions: %v: %+v", err, r)
	}
	all := map[string]string{}
	for _, m := range said.Minions {
		all[m.ID] = m.Connected
	}
	return all
}

// connected waits until the roster shows a minion with the given state.
func (s *site) connected(id, want string) {
	s.t.Helper()
	s.eventually(id+" connected: "+want, func() error {
		if got := s.roster()[id]; got != want {
			return fmt.Errorf("it is said to be %q", got)
		}
		return nil
	})
}

// wantPresence checks the presence of both minions, also with a runner in a separate process. salt asks the
// living minion and does not wait for the dead one.
func (s *site) wantPresence() {
	s.t.Helper()
	if r := s.tool("salt-run", "--out=json", "manage.present"); !strings.Contains(r.stdout, strconv.Quote(honest)) ||
		strings.Contains(r.stdout, strconv.Quote(dead)) {
		s.t.Errorf("manage.present: %+v", r)
	}
	s.wantReach()
}

// wantReach is wantPresence without the runner.
func (s *site) wantReach() {
	s.t.Helper()
	if got := s.roster(); got[honest] != "yes" || got[dead] == "yes" {
		s.t.Errorf("connected: %v", got)
	}
	if r := s.tool("salt", "-t", "20", "-L", honest+","+dead, "test.ping"); !strings.Contains(r.stdout,
		honest+":\n    True") || strings.Contains(r.stdout, dead+":\n    True") {
		s.t.Errorf("salt: %+v", r)
	}
	s.good()
}

// publishPeer is a client at the publish port that can send any message.
type publishPeer struct{ net.Conn }

// publishPeer connects and sends the greeting of a subscriber.
func (s *site) publishPeer() publishPeer {
	s.t.Helper()
	c := s.raw(s.pub)
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"
	_, err := c.Write(append(greeting, append([]byte{4, byte(len(ready))}, ready...)...))
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, len(greeting)))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return publishPeer{c}
}

// say begins or ends subscriptions. A closed connection is no error.
func (p publishPeer) say(begin bool, topics ...string) {
	var b []byte
	for _, topic := range topics {
		b = binary.BigEndian.AppendUint64(append(b, 2), uint64(len(topic)+1))
		if begin {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
		b = append(b, topic...)
	}
	_ = p.SetWriteDeadline(time.Now().Add(patience))
	_, _ = p.Write(b)
}

// claimsOf are topics with an id, or with its hash, that any client can make.
func claimsOf(id string) []string {
	sum := sha1.Sum([]byte(id))
	return []string{"brine:" + id, "brine:" + id + "\x00" + strings.Repeat("k", 12), "brine:" + id + "\x00",
		hex.EncodeToString(sum[:])}
}

// TestPresenceClaims: a client at the publish port that claims to be a minion, or to be it no longer, does not
// change any minion's presence.
func TestPresenceClaims(t *testing.T) {
	s := presenceSite(t)
	for _, id := range []string{honest, dead} {
		leave := s.subscriber(claimsOf(id)...)
		s.wantPresence()
		leave()
		s.wantPresence()
	}
	p := s.publishPeer()
	for range 3 { // ends of subscriptions that others have begun
		p.say(false, "brine:"+honest, "", "broadcast")
	}
	s.wantPresence()
}

// TestPresenceOfOthers: a thief of one key, with the topic of that key, cannot change the presence of another
// minion.
func TestPresenceOfOthers(t *testing.T) {
	s := presenceSite(t)
	th := s.thief("stolen", nil)
	step, err := th.trySignIn()
	if err != nil || step.Link == "" {
		t.Fatalf("sign-in: %+v, %v", step, err)
	}
	leave := s.subscriber(step.Link)
	s.connected("stolen", "yes") // with its own topic
	leave()
	s.connected("stolen", "no")
	for _, id := range []string{honest, dead} {
		leave := s.subscriber(strings.Replace(step.Link, "stolen", id, 1), step.Link+id)
		s.wantPresence()
		leave()
	}
	p := s.publishPeer()
	p.say(false, strings.Replace(step.Link, "stolen", honest, 1))
	s.wantPresence()
}

// TestPresenceFlood: tens of thousands of claims displace no real data, and cost little.
func TestPresenceFlood(t *testing.T) {
	s := presenceSite(t)
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	const claims, each = 1 << 16, 256
	for from := 0; from < claims; from += each {
		var topics []string
		for i := range each {
			topics = append(topics, fmt.Sprintf("brine:m%d", from+i))
		}
		p := s.publishPeer()
		p.say(true, topics...)
		p.say(false, topics...)
		if from%(64*each) == 0 {
			s.good()
		}
	}
	s.said(s.master, "connections to the publish port are cut")
	s.wantPresence()
	s.grown(before, 100<<20)
}

// TestTopicOf20MiB: a message that no minion sends ends the connection and leaves nothing behind.
func TestTopicOf20MiB(t *testing.T) {
	s := presenceSite(t)
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	topic := strings.Repeat("t", 20<<20)
	for range 4 {
		s.publishPeer().say(true, topic) // libzmq itself would die of it
	}
	s.publishPeer().say(true, strings.Split(strings.Repeat(strings.Repeat("u", 400)+" ", 10_000), " ")...)
	s.wantPresence()
	s.grown(before, 200<<20)
}

// grown checks the growth of the master's memory.
func (s *site) grown(before, most int64) {
	s.t.Helper()
	after, err := s.master.rss()
	if err != nil {
		s.t.Fatal(err)
	}
	if after-before > most {
		s.t.Errorf("the master has grown by %d MB, to %d", (after-before)>>20, after>>20)
	}
}

// TestPresenceAfterRestart: a killed master knows its minions again as soon as they reconnect. A minion that it
// has not seen since is neither present nor absent: brine minions shows unknown, and manage.present decides by
// its address, which another minion has here.
func TestPresenceAfterRestart(t *testing.T) {
	s := presenceSite(t)
	s.master.kill()
	s.startMaster()
	s.connected(honest, "yes")
	for _, id := range []string{honest, dead} {
		s.subscriber(claimsOf(id)...)()
	}
	s.wantReach()
}
