package auth

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// maxSealed limits the number of minions whose sealed keys are kept, at about 700 bytes each. At the limit all are
// dropped.
const maxSealed = 4096

// sealedKeys keeps the encrypted keys that each minion got at its last sign-in. A minion that signs in again, as
// salt-call does at each run, gets the same ciphertexts as long as their content stays the same; the reply around them
// is new and has a new signature.
type sealedKeys struct {
	mu   sync.Mutex
	byID map[string]sealedKey
}

type sealedKey struct {
	of              [sha256.Size]byte // digest of receiver, algorithm and content
	shared, session []byte
}

func (k *sealedKeys) get(id string) sealedKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byID[id]
}

func (k *sealedKeys) set(id string, known sealedKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= maxSealed {
		k.byID = map[string]sealedKey{}
	}
	k.byID[id] = known
}

// forget drops the sealed keys of a minion whose key is no longer valid.
func (k *sealedKeys) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, id)
}

// seal encrypts the shared key and the session key to an accepted minion.
func (k *sealedKeys) seal(in signInRequest, adm admission, shared string) (sealedShared, sealedSession []byte,
	err error) {
	of := sha256.Sum256([]byte(in.pub + "\x00" + in.encAlgo + "\x00" + shared + "\x00" + adm.session))
	if known := k.get(in.id); known.of == of && known.shared != nil {
		return known.shared, known.session, nil
	}
	if sealedShared, err = adm.key.Encrypt(in.encAlgo, []byte(shared)); err != nil {
		return nil, nil, fmt.Errorf("encrypt shared key: %w", err)
	}
	if sealedSession, err = adm.key.Encrypt(in.encAlgo, []byte(adm.session)); err != nil {
		return nil, nil, fmt.Errorf("encrypt session key: %w", err)
	}
	k.set(in.id, sealedKey{of, sealedShared, sealedSession})
	return sealedShared, sealedSession, nil
}
