package auth

import (
	"crypto/sha256"
	"sync"

	"brine/wire/crypt"
)

// peer is what the master has checked about one accepted minion.
type peer struct {
	pub string            // text of the key that was accepted at that time
	tok [sha256.Size]byte // digest of the token that was checked with that key
}

// peers remembers checked tokens. A token is constant for its key, and recovering one costs more than the rest of a
// request.
type peers struct {
	mu   sync.RWMutex
	byID map[string]peer
}

func (p *peers) get(id string) (peer, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	known, ok := p.byID[id]
	return known, ok
}

func (p *peers) set(id string, known peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[string]peer{}
	}
	p.byID[id] = known
}

func (p *peers) forget(id string) {
	if _, ok := p.get(id); !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

// checkToken tells whether tok was made with pub, the accepted key of id.
func (m *Master) checkToken(id, pub string, tok []byte) bool {
	if len(tok) == 0 {
		return false
	}
	now := peer{pub: pub, tok: sha256.Sum256(tok)}
	if known, ok := m.peers.get(id); ok && known == now {
		return true
	}
	key, err := crypt.ParsePublicKey([]byte(pub))
	if err != nil {
		return false
	}
	if msg, err := key.RecoverX931(tok); err != nil || string(msg) != "salt" {
		return false
	}
	m.peers.set(id, now)
	return true
}

// EndForeign ends the session of id if it was made for another key than the one that is accepted now. Requests in such
// a session are refused in any case.
func (m *Master) EndForeign(id string) error {
	pub, ok := m.opt.Keys.Accepted(id)
	if !ok || !m.opt.Sessions.Foreign(id, CleanKey(pub)) {
		return nil
	}
	one := m.decide.of(id) // the new owner may have a session by now
	one.Lock()
	defer one.Unlock()
	if pub, ok = m.opt.Keys.Accepted(id); !ok || !m.opt.Sessions.Foreign(id, CleanKey(pub)) || !isKey(pub) {
		// for a damaged key the owner is unknown
		return nil
	}
	m.exchanged(id)
	return m.Revoke(id)
}

func (m *Master) exchanged(id string) {
	if m.opt.Exchanged != nil {
		m.opt.Exchanged(id)
	}
}

// Revoke forgets a minion whose key was deleted or rejected, and its session key. Requests of an id without an accepted
// key are refused anyway; after Revoke, a later key of that id gets another session.
func (m *Master) Revoke(id string) error {
	m.peers.forget(id)
	m.sealed.forget(id)
	if !ValidID(id) {
		return nil
	}
	return m.opt.Sessions.Remove(id)
}
