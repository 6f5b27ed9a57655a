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
	StateDenied   = "denied"   // minions_denied/: a second key, beside the one that counts
)

// KeyStore keeps the public keys of minions. Ids that reach it are valid (see ValidID). It must be safe for
// concurrent use; other processes (salt-key) may change what is behind it at any time.
type KeyStore interface {
	// Get returns the state and the text of id's key. An id in two folders counts as rejected, then accepted,
	// then pending: that one was stored while an operator decided. StateNone and no error when there is none.
	Get(id string) (state, pub string, err error)
	// Accepted returns the key of an id that is accepted now. It is asked for every request and must be
	// cheap when nothing has changed.
	Accepted(id string) (pub string, ok bool)
	// Put stores pub as id's key in a state and takes it out of the others; StateDenied is stored beside.
	Put(id, state, pub string) error
	// TakeAutosign removes id's stub in minions_autosign/ and tells whether there was one in time.
	TakeAutosign(id string) bool
}

// SessionStore keeps the session keys of accepted minions (<cachedir>/sessions/<id>). Public keys reach it as CleanKey
// leaves them. It must be safe for concurrent use.
type SessionStore interface {
	// Session returns id's key string; not ok when it has none, or one that was made for another public key than pub,
	// or one older than publish_session at now. It is asked for every request.
	Session(id, pub string, now time.Time) (key string, ok bool)
	// Foreign tells whether id has a session key that was made for another public key than pub.
	Foreign(id, pub string) bool
	// Create stores a new key string for id, made for pub, in place of any other.
	Create(id, pub, key string, now time.Time) error
	// Remove forgets id's key, also when there is none.
	Remove(id string) error
}

// RuleFiles reads the files that decide on keys without an operator. A file that is missing, or that others
// may write, has no lines. What is not read in time is not known: then nothing is decided, and the key waits.
type RuleFiles interface {
	// Lines returns the lines of a file, white space around them removed.
	Lines(path string) (lines []string, known bool)
	// Names returns the names of the files in a directory.
	Names(dir string) (names []string, known bool)
}

// TrustStore keeps what a minion knows of its master. A missing text is "", with no error.
type TrustStore interface {
	// MasterKey returns the master's public key as trusted so far (minion_master.pub).
	MasterKey() (pub string, err error)
	// TakeMasterKey trusts pub from now on unless a key is trusted already, and returns the one that is trusted
	// then. Of many that are offered at a time, to this process and others, one is taken.
	TakeMasterKey(pub string) (trusted string, err error)
	// SetMasterKey trusts pub from now on, in place of any other.
	SetMasterKey(pub string) error
	// SigningKey returns the public key that vouches for new master keys (master_sign.pub).
	SigningKey() (pub string, err error)
}

// ValidID tells whether id may name a minion.
func ValidID(id string) bool { return payload.ValidID(id) }

// CleanKey returns the text of a key with LF line ends and nothing around it: the form that is compared and
// stored. Source: salt/crypt.py, clean_key.
func CleanKey(pub string) string {
	pub = strings.TrimSpace(pub)
	if strings.Contains(pub, "\r") {
		pub = strings.ReplaceAll(strings.ReplaceAll(pub, "\r\n", "\n"), "\r", "\n")
	}
	return pub
}

// NeedsToken tells whether a command of protocol version 2 carries the minion's token: the master of an old
// release refuses it without. With version 3 every request carries it.
func NeedsToken(cmd string) bool { return tokenCommands[cmd] }
