package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/crypt"
)

// MasterOptions are the options of a Master. Names in brackets are Salt's options.
type MasterOptions struct {
	Key      *crypt.PrivateKey // the master's pair
	Keys     KeyStore
	Sessions SessionStore
	Rules    Rules        // auto_accept, autosign_file, ...
	Logger   *slog.Logger // nil: silent

	SignKey *crypt.PrivateKey // [master_sign_pubkey] vouches for Key in accepted replies; nil: no pub_sig
	PubSig  string            // [master_use_pubkey_signature] content of the precomputed file; overrides SignKey

	PublishPort        int           // [publish_port] sent to minions
	MinimumAuthVersion int           // [minimum_auth_version] requests of lower versions get "bad load"; 0 accepts all
	RequestServerTTL   time.Duration // [request_server_ttl] greatest age of a version 3 request; 0: no limit
	OpenMode           bool          // [open_mode] accept every key
	AllowWeakKeys      bool          // [allow_weak_keys] minions may have keys that others can break, as in Salt
	MaxMinions         int           // [max_minions] 0: no limit
	// Connected returns the number of connected minions and whether id is among them; used with MaxMinions.
	Connected func(id string) (n int, present bool)

	// Admit is called before a key without an operator's decision is stored as pending (pending), or another key of an
	// id as denied. It returns the reason not to store it, or "". from is the sender's address. nil: all are stored.
	Admit func(from string, pending bool) (why string)
	// Warn writes a log record about a remote peer, and may leave out repeated ones; nil: all go to Logger.
	Warn func(cause, from string, attrs ...any)

	// Refused is called for a refused request that names an id; may be nil. proven says that the request was sealed
	// with the session key of that id; otherwise any peer may have sent it.
	Refused func(id string, why Why, proven bool)

	// Exchanged is called once for an id whose session belongs to another key than the one that is accepted now; may be
	// nil.
	Exchanged func(id string)

	SignPublications bool   // [sign_pub_messages]
	PublishSigAlgo   string // [publish_signing_algorithm] default PKCS1v15-SHA1
	SigningAlgorithm string // [signing_algorithm] of signed returns; "": the minion's choice, else PKCS1v15-SHA1
	RequireSignature bool   // [require_minion_sign_messages]
	DropBadSignature bool   // [drop_messages_signature_fail]
}

// Master is the master's side. NewMaster makes it.
type Master struct {
	opt     MasterOptions
	log     *slog.Logger
	pubKey  string // of opt.Key, as sent
	links   []byte // key of the topics by which the publish port recognizes minions
	pubSigs pubSigs
	shared  atomic.Pointer[sharedKey]
	rotate  sync.Mutex // held while shared is replaced
	decide  *idLocks   // held from reading a key's state until the new state is stored
	peers   peers
	sealed  sealedKeys
}

// sharedKey is one generation of the key that all minions share.
type sharedKey struct {
	text   string
	box    *crypt.Box
	sig    []byte       // X9.31 over the hex digest of text, kept because it costs a private operation
	serial atomic.Int64 // of the last publication
}

// NewMaster makes a Master with a new shared key.
func NewMaster(opt MasterOptions) (*Master, error) {
	if opt.Key == nil || opt.Keys == nil || opt.Sessions == nil {
		return nil, errors.New("auth: a master needs Key, Keys and Sessions")
	}
	if opt.PublishSigAlgo == "" {
		opt.PublishSigAlgo = crypt.PKCS1v15SHA1
	}
	if !crypt.KnownSignature(opt.PublishSigAlgo) {
		return nil, fmt.Errorf("publish_signing_algorithm %q: %w", opt.PublishSigAlgo, crypt.ErrUnknownAlgorithm)
	}
	if opt.SigningAlgorithm != "" && !crypt.KnownSignature(opt.SigningAlgorithm) {
		return nil, fmt.Errorf("signing_algorithm %q: %w", opt.SigningAlgorithm, crypt.ErrUnknownAlgorithm)
	}
	links, err := linkKey(opt.Key)
	if err != nil {
		return nil, err
	}
	m := &Master{opt: opt, log: opt.Logger, pubKey: opt.Key.Public().PEM(), links: links, decide: newIDLocks()}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.pubSigs.init(opt)
	return m, m.Rotate()
}

// warn writes a log record about a remote peer.
func (m *Master) warn(cause, from string, attrs ...any) {
	if m.opt.Warn != nil {
		m.opt.Warn(cause, from, attrs...)
		return
	}
	m.log.Warn(cause, attrs...)
}

// Rotate makes a new shared key. From then on only that one is valid; the sessions of version 3 minions stay valid.
// Serials of publications start again with 1.
func (m *Master) Rotate() error { return m.setShared(crypt.NewKeyString()) }

// SharedKey returns the key string that all accepted minions share.
func (m *Master) SharedKey() string { return m.shared.Load().text }

func (m *Master) setShared(text string) error {
	box, err := crypt.NewBox(text)
	if err != nil {
		return fmt.Errorf("set shared key: %w", err)
	}
	digest := sha256.Sum256([]byte(text))
	sig, err := m.opt.Key.SignX931([]byte(hex.EncodeToString(digest[:])))
	if err != nil {
		return fmt.Errorf("sign shared key: %w", err)
	}
	m.rotate.Lock()
	defer m.rotate.Unlock()
	m.shared.Store(&sharedKey{text: text, box: box, sig: sig})
	return nil
}

// nextSerial returns the shared key for a publication, and its serial. It rotates a key whose serials are used up.
func (m *Master) nextSerial() (*sharedKey, int64, error) {
	for {
		shared := m.shared.Load()
		if serial := shared.serial.Add(1); serial > 0 && serial < math.MaxInt64 {
			return shared, serial, nil
		}
		if err := m.Rotate(); err != nil {
			return nil, 0, err
		}
	}
}
