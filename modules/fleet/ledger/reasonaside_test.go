package ledger

import (
	"strings"
	"testing"
	"time"
)

// whyCase is what is known, and the reason that it gives.
type whyCase struct {
	name string
	c    Case
	code Code
	text string // part of it
}

func (tt *whyCase) check(t *testing.T) {
	t.Run(tt.name, func(t *testing.T) {
		if got := Why(tt.c); got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
			t.Errorf("got [%s] %s\nwant [%s] ... %s", got.Code, got.Text, tt.code, tt.text)
		}
	})
}

// TestWhySetAside tells of what an actor of the minion has died of twice.
func TestWhySetAside(t *testing.T) {
	for _, tt := range []whyCase{
		{"return set aside", meant(came(outcome(ReturnAside, "nil map"))), ReturnSpoilt, "the job ended at 11:59:52 " +
			"UTC, 8s ago; what it returned is lost, for the minion's ReturnSender died of it twice, and the reason " +
			"was sent in its place: nil map"},
		{"return set aside, not delivered",
			meant(answers(Minion{Made: ago(8 * time.Second), Spooled: ago(8 * time.Second), Size: 5,
				Outcome: ReturnAside, Detail: "nil map", Attempts: 1, Tried: ago(time.Second), Error: "no answer"})),
			ReturnSpoilt, "died of its return twice: nil map; the reason waits in its place, 1 attempt to deliver " +
				"it, the last failed at 11:59:59 UTC, 1s ago: no answer"},
		{"not matched to the end", meant(answers(Minion{Received: ago(9 * time.Second), Outcome: MatchFailed,
			Detail: "os:Debian (grain): nil map"})), JobUnmatched, "was not run: the minion's Dispatcher died of it " +
			"twice before it could tell whether the target means the minion there: os:Debian (grain): nil map"},
	} {
		tt.check(t)
	}
}

// TestWhyNoConnection tells why a minion cannot connect, as far as its sign-ins show.
func TestWhyNoConnection(t *testing.T) {
	heard := func(c *Case) { c.Peer.Heard = ago(time.Second) }
	for _, tt := range []whyCase{
		{"another key", meant(links(LinkDown, LinkDown), denied, signIn("denied", RefusedRequest, "")), KeyDenied,
			"denied a sign-in in its name at 11:59:59 UTC, 1s ago, for the key that came is not the accepted one; " +
				"the minion was installed anew"},
		{"another key, nobody has a name", meant(links(LinkUnknown, LinkUnknown), signIn("denied", RefusedRequest, "")),
			KeyDenied, "denied a sign-in"},
		{"salt's, nobody is connected now", meant(salt, links(LinkUnknown, LinkDown), func(c *Case) {
			c.Peer.history[0].at = 0
		}), NotConnected, "it is not connected now"},
		{"unknown, asked in vain", meant(links(LinkUnknown, LinkUnknown), asked(Silent)), UnknownCause,
			"did not answer when asked just now"},
		{"running by its word, unknown, asked in vain", meant(says(Minion{Started: ago(8 * time.Second)}),
			links(LinkUnknown, LinkUnknown), asked(Silent)), UnknownCause, "whether it is connected is not known"},
		{"another key, gone by address", meant(links(LinkUnknown, LinkUnknown), denied, byAddress(LinkDown)), KeyDenied,
			"no connection from an address of it is there, and another key"},
		{"another key, before this master", meant(links(LinkUnknown, LinkDown), denied), KeyDenied,
			"it is not connected, and another key than the accepted one has come"},
		{"another machine's key", meant(denied, signIn("denied", RefusedRequest, ""), asked(Silent)), NoAnswer,
			"did not answer when asked"},
		{"another machine's key, long ago", meant(links(LinkDown, LinkDown), signIn("denied", RefusedRequest, ""),
			func(c *Case) {
				c.Peer.Heard = ago(0)
			}), NotConnected, "start the minion"},
		{"signed in only", meant(links(LinkDown, LinkDown), signIn("accept", RefusedRequest, "")), NotConnected,
			"it signed in at 11:59:59 UTC, 1s ago and has made no connection to the publish port since"},
		{"signed in just now", meant(links(LinkDown, LinkDown), signIn("accept", RefusedRequest, ""), func(c *Case) {
			c.Peer.SignedAt = ago(time.Millisecond)
		}), NotConnected, "start the minion"},
		{"signed in, connected, gone", meant(links(LinkDown, LinkDown), signIn("accept", RefusedRequest, ""),
			func(c *Case) {
				c.Peer.SignedAt = ago(4 * time.Second)
			}), NotConnected, "start the minion"},
		{"publish port blocked since", meant(links(LinkUp, LinkDown), heard), ConnectionLost,
			"after the job was sent, though its requests still come (the last one at 11:59:59 UTC, 1s ago)"},
		{"damaged key", meant(signIn("error", KeyDamaged, "the file of the accepted key is damaged"),
			links(LinkDown, LinkDown)), KeyDamaged, "is damaged; put that file back"},
		{"two of one id", meant(asked(Silent), func(c *Case) {
			c.Peer.Up = 2
		}), NoAnswer, ". 2 connections name this id: several minions have it"},
	} {
		tt.check(t)
	}
}

// TestWhyBatch tells of minions whose turn in a batch has not come.
func TestWhyBatch(t *testing.T) {
	batch := func(ended Stamp, change ...func(*Case)) Case {
		c := meant(append(change, target(NotMeant))...)
		c.Job.Job.Minions, c.Job.Job.Client = []string{"a"}, &Client{PID: 123, Ended: ended, Batch: []string{"a", "m1"}}
		return c
	}
	for _, tt := range []whyCase{
		{"waits", batch(0), BatchTurn, "its turn in the batch has not come: the job is sent to it when others have " +
			"returned, by process 123"},
		{"nobody drives it", batch(0, func(c *Case) {
			c.Undriven = true
		}), BatchTurn, "had not come when process 123 ended, which drove the batch: the job was never sent"},
		{"ended", batch(ago(time.Second), func(c *Case) {
			c.Undriven = true
		}), BatchTurn, "the batch ended at 11:59:59 UTC, 1s ago before its turn had come"},
		{"not in it", batch(0, func(c *Case) { c.ID = "m2" }), NotTargeted, "did not mean it"},
	} {
		tt.check(t)
	}
	c := batch(0)
	if turns := c.Job.Turns(); len(turns) != 1 || turns[0] != "m1" {
		t.Errorf("turns of %v", turns)
	}
	if said := ReadClient(c.Job.Job.Client.Map()); len(said.Batch) != 2 || said.Batch[1] != "m1" || said.PID != 123 {
		t.Errorf("read %+v", said)
	}
}
