package auth

// facts are all that counts when a key asks to be let in.
type facts struct {
	open         bool   // open_mode
	state        string // of the key we hold for the id
	stored, sent string // texts of that key and of the one that asks
	spoilt       bool   // stored is no key
	reject, sign bool   // what Rules say; asked for keys nobody has decided on
}

// decision is what becomes of a key. The answer to the minion is accept, or ret.
type decision struct {
	accept bool
	ret    bool   // false: go away; true: wait for an operator
	act    string // for the event
	put    string // state to store a key in; StateNone: nothing is stored
	pub    string // the key to store
	deny   bool   // store the sent key as denied as well
	why    string
	cause  Cause
}

// decide follows the order of 3008: rejected, accepted, unknown, pending.
// Source: salt/master.py, AuthFuncs._auth_impl_sync.
func decide(f facts) decision {
	same := CleanKey(f.stored) == f.sent
	switch {
	case f.open:
		if f.state == StateAccepted && same {
			return accepted()
		}
		return accepting(f.sent)
	case f.state == StateRejected:
		return decision{act: ActReject, why: "key is rejected"}
	case f.state == StateAccepted && f.spoilt: // the minion is not to be told that it is refused: it would give up
		return decision{ret: true, act: ActError,
			why: "the file of the accepted key is damaged: it holds no public key", cause: CauseSpoilt}
	case f.state == StatePending && f.spoilt && !f.reject && !f.sign:
		return decision{ret: true, act: ActPend, put: StatePending, pub: f.sent,
			why: "the pending key was damaged; this one is pending"}
	case f.state == StateAccepted && !same, f.state == StatePending && !f.reject && !same:
		return decision{act: ActDenied, deny: true, why: "another key is " + f.state}
	case f.state == StateAccepted:
		return accepted()
	case f.state != StateNone && f.state != StatePending:
		return decision{act: ActError, why: "key is in an unknown state"}
	case f.reject:
		return decision{act: ActReject, put: StateRejected, pub: firstOf(f.stored, f.sent),
			why: "rejected by autoreject_file"}
	case f.sign:
		return accepting(f.sent)
	case f.state == StatePending:
		return decision{ret: true, act: ActPend, why: "key is still pending"}
	}
	return decision{ret: true, act: ActPend, put: StatePending, pub: f.sent, why: "new key is pending"}
}

func accepted() decision { return decision{accept: true, act: ActAccept} }

func accepting(pub string) decision {
	return decision{accept: true, act: ActAccept, put: StateAccepted, pub: pub}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
