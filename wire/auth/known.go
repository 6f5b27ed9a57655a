package auth

import (
	"fmt"
	"sync"

	"brine/wire/crypt"
)

// maxKnown bounds how many minions' sealed keys are kept, at about 1.5 KB each. Past it all are forgotten.
const maxKnown = 2048

// knownKeys keeps what the last sign-in of a minion cost to make: its key, read, and the keys it was given, encrypted to
// it. A minion that signs in again, as salt-call does each time it is run, gets the same ciphertexts for as long as
// nothing in them changes; the reply around them is new and signed anew.
type knownKeys struct {
	mu   sync.Mutex
	byID map[string]*knownKey
}

type knownKey struct {
	pub string // text that key was read from
	key *crypt.PublicKey

	algo, shared, session string // what the ciphertexts were made with and of; "" while there are none
	sealedShared          []byte
	sealedSession         []byte
}

func (k *knownKeys) get(id string) *knownKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byID[id]
}

func (k *knownKeys) set(id string, known *knownKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= maxKnown {
		k.byID = map[string]*knownKey{}
	}
	k.byID[id] = known
}

// forget drops what is kept of a minion whose key does not count any more.
func (k *knownKeys) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, id)
}

// parse reads the key of a minion. The error wraps crypt.ErrBadKey.
func (k *knownKeys) parse(id, pub string) (*crypt.PublicKey, error) {
	if known := k.get(id); known != nil && known.pub == pub {
		return known.key, nil
	}
	return crypt.ParsePublicKey([]byte(pub))
}

// seal encrypts the shared key and the session key of an accepted minion to it.
func (k *knownKeys) seal(in signInRequest, adm admission, shared string) (sealedShared, sealedSession []byte, err error) {
	want := knownKey{pub: in.pub, algo: in.encAlgo, shared: shared, session: adm.session}
	if known := k.get(in.id); known != nil && known.pub == want.pub && known.algo == want.algo &&
		known.shared == want.shared && known.session == want.session {
		return known.sealedShared, known.sealedSession, nil
	}
	want.key = adm.key
	if want.sealedShared, err = adm.key.Encrypt(in.encAlgo, []byte(shared)); err != nil {
		return nil, nil, fmt.Errorf("encrypt shared key: %w", err)
	}
	if want.sealedSession, err = adm.key.Encrypt(in.encAlgo, []byte(adm.session)); err != nil {
		return nil, nil, fmt.Errorf("encrypt session key: %w", err)
	}
	k.set(in.id, &want)
	return want.sealedShared, want.sealedSession, nil
}
