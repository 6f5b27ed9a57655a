package auth

import "brine/wire/payload"

// Values of Outcome.Act, as in salt/auth events.
const (
	ActAccept = "accept"
	ActPend   = "pend"
	ActReject = "reject"
	ActDenied = "denied"
	ActFull   = "full"
	ActError  = "error"
)

// Outcome is the result of one sign-in, for the event, the log and the counters. Act "", as in the zero value, means
// that the request was refused before any key was checked: no event is fired.
type Outcome struct {
	Result  bool   // accepted, or waiting for an operator
	Act     string // one of the Act constants
	ID, Pub string
	Grains  *payload.Map // autosign_grains of the request, nil if it had none
	Weak    bool         // the key was refused because others can break it
	Session bool         // a session key was made
	Reason  string       // for the log: why the answer is not an acceptance
	Cause   Cause        // the kind of Reason, for a refusal
}

// Event returns the data of the salt/auth event, or nil if there is none. withGrains is whether
// auth_events_autosign_grains names this act.
func (o Outcome) Event(withGrains bool) *payload.Map {
	if o.Act == "" {
		return nil
	}
	data := payload.M("result", o.Result, "act", o.Act, "id", o.ID, "pub", o.Pub)
	if o.Weak { // Unlike Salt: it accepts such keys
		data.Set("why", o.Reason)
	}
	if withGrains && o.Grains.Len() > 0 {
		data.Set("autosign_grains", o.Grains)
	}
	return data
}
