package ledger

import (
	"strings"
	"testing"
	"time"
)

// TestWhySetAside tells of what an actor of the minion has died of twice.
func TestWhySetAside(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Case
		code Code
		text string // part of it
	}{
		{"return set aside", meant(came(outcome(ReturnAside, "nil map"))), ReturnSpoilt, "the job ended at 11:59:52 UTC, 8s ago; what it returned is lost, for the minion's ReturnSender died of it twice, and the reason was sent in its place: nil map"},
		{"return set aside, not delivered", meant(answers(Minion{Made: ago(8 * time.Second), Spooled: ago(8 * time.Second), Size: 5, Outcome: ReturnAside, Detail: "nil map", Attempts: 1, Tried: ago(time.Second), Error: "no answer"})),
			ReturnSpoilt, "died of its return twice: nil map; the reason waits in its place, 1 attempt to deliver it, the last failed at 11:59:59 UTC, 1s ago: no answer"},
		{"not matched to the end", meant(answers(Minion{Received: ago(9 * time.Second), Outcome: MatchFailed, Detail: "os:Debian (grain): nil map"})),
			JobUnmatched, "was not run: the minion's Dispatcher died of it twice before it could tell whether the target means the minion there: os:Debian (grain): nil map"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Why(tt.c); got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
				t.Errorf("got [%s] %s\nwant [%s] ... %s", got.Code, got.Text, tt.code, tt.text)
			}
		})
	}
}
