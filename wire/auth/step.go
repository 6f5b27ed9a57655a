package auth

import (
	"math/rand/v2"
	"time"
)

// Verdict is a minion's action after a sign-in reply.
type Verdict int

// The verdicts.
const (
	Accepted Verdict = iota + 1 // signed in
	Pending                     // the key waits for an operator: wait Step.Wait, then send a new Request
	Retry                       // refused or timed out, and to be tried again: wait Step.Wait, then send a new Request
	Full                        // the master accepts no more minions: this attempt is over; try again, or the next master
	Failed                      // the reply is useless or not trustworthy: this attempt is over
	Rejected                    // wait Step.Wait, then end the process with Step.ExitCode
	Fatal                       // end the process with Step.ExitCode at once
)

// String returns the verdict for logs.
func (v Verdict) String() string {
	names := [...]string{"none", "accepted", "pending", "retry", "full", "failed", "rejected", "fatal"}
	if v < 0 || int(v) >= len(names) {
		return "unknown"
	}
	return names[v]
}

// Exit codes of a minion's process (salt/defaults/exitcodes.py; crypt.py, _finger_fail).
const (
	ExitNoPermission = 77
	ExitWrongMaster  = 42
)

// Step is the next action. Only the fields for its verdict are set.
type Step struct {
	Verdict  Verdict
	Text     string        // for the log; "" if accepted
	Wait     time.Duration // before the next Request, or before the end
	ExitCode int           // of Rejected and Fatal

	PublishPort int    // of the accepting master
	Brine       bool   // the master is a brine master
	Link        string // an additional topic of the publish port to subscribe to, a secret; "": none
	Version     int    // of requests from now on, 3 or 2
	NewKey      bool   // the shared or the session key has changed
	NewMaster   bool   // the master's key was stored: it was unknown, or the signing key vouches for it
}

func failedStep(text string) Step { return Step{Verdict: Failed, Text: text} }

// fault is the fault of a reply, for the log.
type fault string

func (f fault) Error() string { return string(f) }

// Faults of a reply. The short ones are the texts of Salt's errors (salt/crypt.py).
const (
	textMalformed  fault = "sign-in failed: malformed reply"
	textMasterKey  fault = "Invalid master key"
	textSignature  fault = "Invalid signature"
	textNonce      fault = "Invalid nonce"
	textKeyChanged fault = "the master's key has changed: this may be another master; if it is meant, remove " +
		"minion_master.pub"
	textOtherMaster fault = "another master was there first, and its key is trusted: masters of a list must have " +
		"the same key"
	textMasterSigns  fault = "the master signs its public key, and verify_master_pubkey_sign is off here"
	textMinionChecks fault = "verify_master_pubkey_sign is on, and the master does not sign its public key"
	textNoSigningKey fault = "verify_master_pubkey_sign is on, and the public key to verify with is not in the pki " +
		"directory"
	textBadPubSig    fault = "the signature of the master's public key does not match"
	textTokenMissing fault = "the master could not return our token"
	textSessionGone  fault = "the master gave a session key before and none now: it is refused until this minion " +
		"restarts"
)

// Other texts of steps.
const (
	textBadEncAlgo = "the master does not know the encryption_algorithm of this minion"
	textBadSigAlgo = "the master does not know the signing_algorithm of this minion"
	textFull       = "the master has reached its max_minions"
	textRejected   = "the master has rejected this minion's public key: delete the key there, then start this " +
		"minion again"
	textRejectedRetry = "the master has rejected this minion's public key: delete the key there; this minion goes " +
		"on asking"
	textPending     = "the master holds this minion's public key for an operator to accept"
	textTimeout     = "the master did not answer the sign-in in time"
	textFingerprint = "the master's key has fingerprint %s, and master_finger is %s: this may be another master"
)

// rejectedPause is how long a rejected minion waits before its process ends, 10 to 20 s, so that a service manager does
// not restart it at once.
func rejectedPause() time.Duration { return 10*time.Second + rand.N(10*time.Second+1) }

// nextWait returns acceptance_wait_time, doubled at each call until acceptance_wait_time_max.
func (m *Minion) nextWait() time.Duration {
	wait := m.wait
	if m.wait < m.opt.AcceptanceWaitMax {
		m.wait += m.wait
	}
	return wait
}
