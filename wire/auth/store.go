package auth

import (
	"strings"
	"time"

	"brine/wire/payload"
)

// States of a minion's key, in Salt's words.
const (
	StateNone     = ""         // no folder holds a key of that id
	StateAccepted = "accepted" // minions/
	StatePending  = "pending"  // minions_pre/
	StateRejected = "rejected" // minions_rejected/
	StateDenied   = "denied"   // minions_denied/: a second key, beside the valid one
)

// KeyStore keeps the public keys of minions. Only valid ids reach it (see ValidID). It must be safe for concurrent use;
// other processes (salt-key) may change its content at any time.
type KeyStore interface {
	// Get returns the state and the text of id's key. If an id is in several folders, rejected wins over accepted, and
	// accepted over pending: the pending one was stored while an operator decided. Without a key the result is
	// StateNone and no error.
	Get(id string) (state, pub string, err error)
	// Accepted returns the currently accepted key of id. It is called for every request and must be cheap if nothing
	// has changed.
	Accepted(id string) (pub string, ok bool)
	// Put stores pub as id's key in a state and removes it from the other states; StateDenied is stored beside them.
	Put(id, state, pub string) error
	// TakeAutosign removes id's stub in minions_autosign/, and tells whether it found a valid one within its time limit.
	TakeAutosign(id string) bool
}

// SessionStore keeps the session keys of accepted minions (<cachedir>/sessions/<id>). Public keys have the form that
// CleanKey returns. It must be safe for concurrent use.
type SessionStore interface {
	// Session returns id's key string. ok is false if there is none, if it was made for another public key than pub, or
	// if it is older than publish_session at now. It is called for every request.
	Session(id, pub string, now time.Time) (key string, ok bool)
	// Foreign tells whether id has a session key that was made for another public key than pub.
	Foreign(id, pub string) bool
	// Create stores a new key string for id, made for pub. It replaces any other.
	Create(id, pub, key string, now time.Time) error
	// Remove forgets id's key, if there is one.
	Remove(id string) error
}

// RuleFiles reads the files that decide about keys without an operator. A file that is missing, or that others may
// write, has no lines. known is false if a file was not read in time: then nothing is decided, and the key waits.
type RuleFiles interface {
	// Lines returns the lines of a file without white space around them.
	Lines(path string) (lines []string, known bool)
	// Names returns the names of the files in a directory.
	Names(dir string) (names []string, known bool)
}

// TrustStore keeps a minion's trusted keys. A missing text is "", with no error.
type TrustStore interface {
	// MasterKey returns the master's public key that is trusted so far (minion_master.pub).
	MasterKey() (pub string, err error)
	// TakeMasterKey makes pub the trusted key unless there is one already, and returns the trusted key. If this process
	// and others offer several keys at the same time, only one becomes trusted.
	TakeMasterKey(pub string) (trusted string, err error)
	// SetMasterKey makes pub the trusted key. It replaces any other.
	SetMasterKey(pub string) error
	// SigningKey returns the public key that vouches for new master keys (master_sign.pub).
	SigningKey() (pub string, err error)
}

// ValidID tells whether id may name a minion.
func ValidID(id string) bool { return payload.ValidID(id) }

// CleanKey returns the text of a key with LF line ends and without space around it: the form that is compared and
// stored. Source: salt/crypt.py, clean_key.
func CleanKey(pub string) string {
	pub = strings.TrimSpace(pub)
	if strings.Contains(pub, "\r") {
		pub = strings.ReplaceAll(strings.ReplaceAll(pub, "\r\n", "\n"), "\r", "\n")
	}
	return pub
}

// NeedsToken tells whether a command of protocol version 2 carries the minion's token: a master of an old release
// refuses it otherwise. With version 3 every request carries it.
func NeedsToken(cmd string) bool { return tokenCommands[cmd] }
