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

// MasterOptions are what a Master is made of. Names in brackets are Salt's options.
type MasterOptions struct {
	Key      *crypt.PrivateKey // the master's pair
	Keys     KeyStore
	Sessions SessionStore
	Rules    Rules        // auto_accept, autosign_file, ...
	Logger   *slog.Logger // nil: silent

	SignKey *crypt.PrivateKey // [master_sign_pubkey] vouches for Key in accepted replies; nil: no pub_sig
	PubSig  string            // [master_use_pubkey_signature] content of the precomputed file; wins over SignKey

	PublishPort        int           // [publish_port] told to minions
	MinimumAuthVersion int           // [minimum_auth_version] requests below get "bad load"; 0 accepts all
	RequestServerTTL   time.Duration // [request_server_ttl] greatest age of a version 3 request; 0: not checked
	OpenMode           bool          // [open_mode] accept every key
	AllowWeakKeys      bool          // [allow_weak_keys] minions may have keys that others can break, as with Salt
	MaxMinions         int           // [max_minions] 0: no limit
	// Connected returns the number of connected minions and whether id is among them; asked with MaxMinions.
	Connected func(id string) (n int, present bool)

	// Admit is asked before a key is stored that nobody has decided on, or denied beside another; pending says which.
	// It returns why it may not be stored, "" when it may. from is the address of who sends it. nil: all are stored.
	Admit func(from string, pending bool) (why string)
	// Warn writes a log record about somebody outside, and may leave out repeated ones; nil: all go to Logger.
	Warn func(cause, from string, attrs ...any)

	// Refused is told of requests that were not served and named an id; may be nil. proven says that the request was
	// sealed with the session key of that id; otherwise anybody may have sent it.
	Refused func(id string, why Why, proven bool)

	// Exchanged is told once of an id that had a session with another key than the one that is accepted now; may be
	// nil.
	Exchanged func(id string)

	SignPublications bool   // [sign_pub_messages]
	PublishSigAlgo   string // [publish_signing_algorithm] default PKCS1v15-SHA1
	SigningAlgorithm string // [signing_algorithm] of signed returns; "": what the minion names, else PKCS1v15-SHA1
	RequireSignature bool   // [require_minion_sign_messages]
	DropBadSignature bool   // [drop_messages_signature_fail]
}

// Master is the master's side. Make it with NewMaster.
type Master struct {
	opt     MasterOptions
	log     *slog.Logger
	pubKey  string // of opt.Key, as sent
	links   []byte // key of the topics by which minions are known on the publish port
	pubSigs pubSigs
	shared  atomic.Pointer[sharedKey]
	rotate  sync.Mutex // held while shared is replaced
	decide  *idLocks   // held from reading a key's state until its new state is stored
	peers   peers
	sealed  sealedKeys
}

// sharedKey is one generation of the key that all minions know.
type sharedKey struct {
	text   string
	box    *crypt.Box
	sig    []byte       // X9.31 over the hex digest of text, made once because it costs a private operation
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

// warn writes a log record about somebody outside.
func (m *Master) warn(cause, from string, attrs ...any) {
	if m.opt.Warn != nil {
		m.opt.Warn(cause, from, attrs...)
		return
	}
	m.log.Warn(cause, attrs...)
}

// Rotate makes a new shared key. From now on only that one is valid; the sessions of version 3 minions go on.
// Publications begin again with serial 1.
func (m *Master) Rotate() error { return m.setShared(crypt.NewKeyString()) }

// SharedKey returns the key string that all accepted minions know.
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

// nextSerial returns the shared key to publish under and the serial of the publication. A key whose serials
// are used up is rotated.
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
