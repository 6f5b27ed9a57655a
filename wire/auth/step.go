package auth

import "time"

// Verdict is what a minion does after a sign-in reply.
type Verdict int

// The verdicts.
const (
	Accepted Verdict = iota + 1 // signed in
	Pending                     // the key waits for an operator: wait Step.Wait, send a new Request
	Retry                       // refused, or timed out, and told to go on: wait Step.Wait, send a new Request
	Full                        // the master takes no more minions: this attempt is over, the next master or try is due
	Failed                      // the reply is not to be trusted or of no use: this attempt is over
	Rejected                    // wait Step.Wait, then end the process with Step.ExitCode
	Fatal                       // end the process with Step.ExitCode at once
)

// Exit codes of a minion's process (salt/defaults/exitcodes.py; crypt.py, _finger_fail).
const (
	ExitNoPermission = 77
	ExitWrongMaster  = 42
)

// Step is what to do next. Only the fields that go with its verdict are set.
type Step struct {
	Verdict  Verdict
	Text     string        // for the log, in Salt's words; "" when accepted
	Wait     time.Duration // before the next Request, or before the end
	ExitCode int           // of Rejected and Fatal

	PublishPort int  // of the master that accepted
	Version     int  // of requests from now on, 3 or 2
	NewKey      bool // the shared or session key is not the one before
	NewMaster   bool // the master's key was stored: it was unknown, or vouched for by the signing key
}
