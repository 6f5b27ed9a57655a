package auth

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// maxSealed bounds how many minions' sealed keys are kept, at about 700 bytes each. Past it all are forgotten.
const maxSealed = 4096

// sealedKeys keeps the keys that minions were given at their last sign-in, encrypted to them. One that signs in again,
// as salt-call does each time it is run, gets the same ciphertexts for as long as nothing in them changes; the reply
// around them is new and signed anew.
type sealedKeys struct {
	mu   sync.Mutex
	byID map[string]sealedKey
}

type sealedKey struct {
	of              [sha256.Size]byte // whom they are for, how they were made, and what is in them
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

// forget drops what is kept of a minion whose key does not count any more.
func (k *sealedKeys) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, id)
}

// seal encrypts the shared key and the session key of an accepted minion to it.
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
