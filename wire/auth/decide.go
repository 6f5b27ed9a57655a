package auth

// facts are everything that decides whether a key is accepted.
type facts struct {
	open         bool   // open_mode
	state        string // of the stored key of this id
	stored, sent string // texts of the stored key and of the sent one
	spoilt       bool   // the stored text is not a key
	reject, sign bool   // results of Rules; set only for keys without an operator's decision
}

// decision is the decision about a key. The answer to the minion is an acceptance, or ret.
type decision struct {
	accept bool
	ret    bool   // false: rejected; true: wait for an operator
	act    string // for the event
	put    string // state in which to store a key; StateNone: do not store one
	pub    string // the key to store
	deny   bool   // also store the sent key as denied
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
	case f.state == StateAccepted && f.spoilt: // the answer must not be a rejection: the minion would give up
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
