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

// Errors of a signed-in minion.
var (
	// ErrReauth means that the master no longer knows our key, or we not its: sign in, then pack the request
	// anew and send it once more, or open the publication once more.
	ErrReauth = errors.New("auth: sign in again")
	// ErrNotSignedIn means that there is no key yet.
	ErrNotSignedIn = errors.New("auth: not signed in")
	// ErrIgnore means that a publication is authentic and not for us to act on: repeated, out of order or empty.
	ErrIgnore = errors.New("auth: publication ignored")
	// ErrBadReply means that a reply is none of the forms a master sends.
	ErrBadReply = errors.New("auth: unexpected reply")
)

// MinionOptions are what a Minion is made of. Names in brackets are Salt's options.
type MinionOptions struct {
	ID    string
	Key   *crypt.PrivateKey // minion.pem
	Trust TrustStore

	KeyToken []byte // crypt.TokenOf of Key, for those who make many minions of one key; nil: it is made

	EncAlgo        string       // [encryption_algorithm] default OAEP-SHA1
	SigAlgo        string       // [signing_algorithm] default PKCS1v15-SHA1
	AutosignGrains *payload.Map // [autosign_grains] name -> value; nil: none are sent

	MasterFinger          string // [master_finger, syndic_finger] "": any master
	HashType              string // [hash_type] of MasterFinger, default sha256
	AllowWeakKeys         bool   // [allow_weak_keys] the master may have a key that others can break, as with Salt
	VerifyMasterPubkey    bool   // [verify_master_pubkey_sign]
	AlwaysVerifySignature bool   // [always_verify_signature]
	OpenMode              bool   // [open_mode]

	RejectedRetry     bool          // [rejected_retry]
	AuthSafemode      bool          // [auth_safemode] a sign-in that times out is tried for ever
	AcceptanceWait    time.Duration // [acceptance_wait_time]
	AcceptanceWaitMax time.Duration // [acceptance_wait_time_max] 0: no growth

	SignMessages    bool // [minion_sign_messages]
	SignPubMessages bool // [sign_pub_messages] refuse unsigned publications

	MaxVersion int // the highest protocol version to speak: 2 is how minions before session keys did; 0: the newest

	Now func() time.Time // nil: time.Now
}

// Minion is a minion's side towards one master. Make it with NewMinion. The order of calls is Request, send
// it, Reply; after an accepted reply Seal, Open, OpenPillar and OpenPublication. Sign-ins may be repeated
// while requests are under way.
type Minion struct {
	opt   MinionOptions
	pub   string // our public key, as sent
	tok   []byte // X9.31 of "salt": proves our key in every request
	token []byte // random text that the master must be able to return

	serials func(key string) int64 // see KnowSerials; may be nil

	mu         sync.Mutex
	pending    *signIn // the request whose reply is awaited
	creds      *creds  // nil until accepted
	previous   *creds  // before the last sign-in: opens replies that were under way
	hadSession bool    // the master spoke version 3 once
	wait       time.Duration
}

// signIn is one sign-in request.
type signIn struct {
	nonce     string
	withToken bool
	masterKey string // trusted when the request was made, "" for none
}

// creds is what an accepted reply gives. It is not changed, but for the serial.
type creds struct {
	sharedText  string
	mark        KeyMark    // of sharedText
	sessionText string     // "" with a master of version 2
	shared      *crypt.Box // publications; with version 2 everything
	session     *crypt.Box // requests and replies
	version     int        // of requests
	publishPort int
	brine       bool
	signs       bool   // the master has said that it signs publications
	link        string // topic by which the master knows the minion on the publish port; "": none
	masterKey   *crypt.PublicKey
	masterText  string // of masterKey, as the master sent it
	serial      *serial
}

// serial guards against repeated publications. With a shared key that is new it begins at 0, or where this minion knows
// that the master has counted to already.
type serial struct {
	key  string // digest of the shared key
	last int64
}

// NewMinion makes a Minion that is not signed in.
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

// newNonce returns 32 hex digits of a random UUID, as Salt's nonces are.
func newNonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return hex.EncodeToString(b[:])
}

// SignedIn tells whether requests can be sealed.
func (m *Minion) SignedIn() bool { return m.current() != nil }

// Version returns the protocol version of requests: 3, or 2 for a master that gave no session key; 0 before
// the first sign-in.
func (m *Minion) Version() int {
	if c := m.current(); c != nil {
		return c.version
	}
	return 0
}

// KeyMark tells shared keys apart without giving them away.
type KeyMark [sha256.Size]byte

// SharedKey marks the key that opens publications: what opens for one minion opens for all with the same mark. It is
// zero before the first sign-in.
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
