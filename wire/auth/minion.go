package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// Errors of a minion that has signed in.
var (
	// ErrReauth means that the master no longer knows our key, or that we do not know its key. The caller must sign in.
	// It then seals the request again and sends it once more, or opens the publication once more.
	ErrReauth = errors.New("auth: sign in again")
	// ErrNotSignedIn means that there are no keys yet.
	ErrNotSignedIn = errors.New("auth: not signed in")
	// ErrIgnore means that a publication is repeated, out of order, empty or not sealed: the minion must not act on it.
	ErrIgnore = errors.New("auth: publication ignored")
	// ErrBadReply means that a reply has none of the forms that a master sends.
	ErrBadReply = errors.New("auth: unexpected reply")
)

// MinionOptions are the options of a Minion. Names in brackets are Salt's options.
type MinionOptions struct {
	ID    string
	Key   *crypt.PrivateKey // minion.pem
	Trust TrustStore

	KeyToken []byte // crypt.TokenOf of Key, for callers that make many minions with one key; nil: NewMinion makes it

	EncAlgo        string       // [encryption_algorithm] default OAEP-SHA1
	SigAlgo        string       // [signing_algorithm] default PKCS1v15-SHA1
	AutosignGrains *payload.Map // [autosign_grains] name -> value; nil: send none

	MasterFinger          string // [master_finger, syndic_finger] "": any master
	HashType              string // [hash_type] of MasterFinger, default sha256
	AllowWeakKeys         bool   // [allow_weak_keys] the master may have a key that others can break, as in Salt
	VerifyMasterPubkey    bool   // [verify_master_pubkey_sign]
	AlwaysVerifySignature bool   // [always_verify_signature]
	OpenMode              bool   // [open_mode]

	RejectedRetry     bool          // [rejected_retry]
	AuthSafemode      bool          // [auth_safemode] a sign-in that times out is retried forever
	AcceptanceWait    time.Duration // [acceptance_wait_time]
	AcceptanceWaitMax time.Duration // [acceptance_wait_time_max] 0: no growth

	SignMessages    bool // [minion_sign_messages]
	SignPubMessages bool // [sign_pub_messages] refuse unsigned publications

	MaxVersion int // the highest protocol version to use: 2 is that of minions without session keys; 0: the newest

	Now func() time.Time // nil: time.Now
}

// Minion is a minion's side towards one master. NewMinion makes it. The order of calls is Request, then Reply with the
// master's answer; after an accepted reply Seal, Open, OpenPillar and OpenPublication. Sign-ins may be repeated while
// requests are under way.
type Minion struct {
	opt   MinionOptions
	pub   string // our public key, as sent
	tok   []byte // X9.31 of "salt": proves our key in every request
	token []byte // random text that the master must return

	serials func(key string) int64 // see KnowSerials; may be nil

	mu         sync.Mutex
	pending    *signIn // the request without a reply yet
	creds      *creds  // nil until accepted
	previous   *creds  // from before the last sign-in: opens replies that were under way
	hadSession bool    // the master has used version 3 once
	wait       time.Duration
}

// signIn is one sign-in request.
type signIn struct {
	nonce     string
	withToken bool
	masterKey string // trusted when the request was made, or ""
}

// creds are the results of an accepted reply. Only the serial changes.
type creds struct {
	sharedText  string
	mark        KeyMark    // of sharedText
	sessionText string     // "" for a master of version 2
	shared      *crypt.Box // for publications; with version 2 for everything
	session     *crypt.Box // for requests and replies
	version     int        // of requests
	publishPort int
	brine       bool
	signs       bool   // the master says that it signs publications
	link        string // topic by which the publish port recognizes the minion; "": none
	masterKey   *crypt.PublicKey
	masterText  string // of masterKey, as the master sent it
	serial      *serial
}

// serial guards against repeated publications. For a new shared key it begins at 0, or at the last number that this
// minion has already seen with that key.
type serial struct {
	key  string // digest of the shared key
	last int64
}

// NewMinion makes a Minion without a session.
func NewMinion(opt MinionOptions) (*Minion, error) {
	if opt.Key == nil || opt.Trust == nil || !ValidID(opt.ID) {
		return nil, fmt.Errorf("auth: a minion needs Key, Trust and a valid id, got id %q", opt.ID)
	}
	opt.EncAlgo = orDefault(opt.EncAlgo, crypt.OAEPSHA1)
	opt.SigAlgo = orDefault(opt.SigAlgo, crypt.PKCS1v15SHA1)
	opt.HashType = orDefault(opt.HashType, "sha256")
	if opt.MaxVersion != 2 {
		opt.MaxVersion = protocolVersion
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if !crypt.KnownEncryption(opt.EncAlgo) || !crypt.KnownSignature(opt.SigAlgo) {
		return nil, fmt.Errorf("algorithms %q, %q: %w", opt.EncAlgo, opt.SigAlgo, crypt.ErrUnknownAlgorithm)
	}
	tok, err := opt.KeyToken, error(nil)
	if tok == nil {
		tok, err = crypt.TokenOf(opt.Key)
	}
	if err != nil {
		return nil, fmt.Errorf("make token: %w", err)
	}
	return &Minion{
		opt:   opt,
		pub:   opt.Key.Public().PEM(),
		tok:   tok,
		token: []byte(crypt.NewKeyString()),
		wait:  opt.AcceptanceWait,
	}, nil
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// newNonce returns 32 hex digits of a random UUID, like Salt.
func newNonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return hex.EncodeToString(b[:])
}

// SignedIn tells whether the minion can seal requests.
func (m *Minion) SignedIn() bool { return m.current() != nil }

// Version returns the protocol version of requests: 3, or 2 for a master that gave no session key; 0 before the first
// sign-in.
func (m *Minion) Version() int {
	if c := m.current(); c != nil {
		return c.version
	}
	return 0
}

// KeyMark distinguishes shared keys without revealing them.
type KeyMark [sha256.Size]byte

// SharedKey is the mark of the key that opens publications: a publication that opens for one minion opens for all
// minions with the same mark. It is zero before the first sign-in.
func (m *Minion) SharedKey() KeyMark {
	if c := m.current(); c != nil {
		return c.mark
	}
	return KeyMark{}
}

// Token returns the minion's constant token (tok).
func (m *Minion) Token() []byte { return m.tok }

func (m *Minion) current() *creds {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.creds
}
