// Package speakers remembers by what right the minions of a master speak: whether an id is a minion or a syndic,
// whether it has spoken a version of the protocol that proves who speaks, and which resources it manages. It knows no
// requests and decides nothing. Salt has only the registry of resources (salt/utils/resource_registry.py).
package speakers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/wire/payload"
)

// BankSpeakers keeps what is remembered of accepted ids beside their data, each with the key that it had then.
const BankSpeakers = "speakers"

// The roles of an id.
const (
	RoleMinion = "minion"
	RoleSyndic = "syndic"
)

// Roles remember of accepted ids by what they have spoken, on disk: what an id has once shown, somebody who only names
// it cannot take back. Its methods may be called by many goroutines.
type Roles struct {
	Keys      *keys.Store
	Cache     *datacache.Banks
	SyndicDir string // files of Salt, one for each syndic that has sent returns

	mu   sync.Mutex
	byID map[string]Spoken
}

// Spoken is what an id has shown with one key.
type Spoken struct {
	key  string // its fingerprint
	Role string // "" before its first word
	V3   bool   // it has spoken version 3 of the protocol
}

// Of is what is known of an id; the zero value when its key is not accepted.
func (s *Roles) Of(id string) Spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(id)
}

// Note changes what is known of an id. An error means that it is not on disk, and counts until this process ends.
func (s *Roles) Note(id string, change func(*Spoken)) (Spoken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.get(id)
	now := old
	change(&now)
	if now == old || old.key == "" {
		return old, nil
	}
	s.byID[id] = now
	if err := s.Cache.Store(BankSpeakers, id, payload.M("key", now.key, "role", now.Role, "v3", now.V3)); err != nil {
		return now, fmt.Errorf("keep what %s has shown: %w", id, err)
	}
	return now, nil
}

func (s *Roles) get(id string) Spoken {
	pub, ok, err := s.Keys.Read(keys.Accepted, id)
	if err != nil || !ok {
		delete(s.byID, id)
		return Spoken{}
	}
	sum := sha256.Sum256([]byte(pub))
	key := hex.EncodeToString(sum[:])
	if known, ok := s.byID[id]; ok && known.key == key {
		return known
	}
	if s.byID == nil {
		s.byID = map[string]Spoken{}
	}
	known := s.read(id, key)
	s.byID[id] = known
	return known
}

// read reads what the disk holds. What was shown with another key does not count.
func (s *Roles) read(id, key string) Spoken {
	known := Spoken{key: key}
	v, err := s.Cache.Fetch(BankSpeakers, id)
	if err != nil { // a damaged file: what an id has shown may not be forgotten to its good
		return Spoken{key: key, Role: RoleMinion, V3: true}
	}
	if m, ok := v.(*payload.Map); ok && m.Str("key") == key {
		known.Role, known.V3 = m.Str("role"), m.Bool("v3")
	}
	if known.Role == "" && v == nil {
		if _, err := os.Lstat(filepath.Join(s.SyndicDir, id)); err == nil {
			known.Role = RoleSyndic
		}
	}
	return known
}
