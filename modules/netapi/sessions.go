package netapi

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// SessionLife is how long a session lives after its last use.
const SessionLife = 600 * time.Minute

// idBytes is the length of a session id before it is written in hexadecimal digits.
const idBytes = 20

// NewSessionID makes an id: 40 digits.
func NewSessionID() string {
	var b [idBytes]byte
	_, _ = rand.Read(b[:]) // it never fails: the program ends before
	return hex.EncodeToString(b[:])
}

// SessionID says whether a text has the form of an id.
func SessionID(id string) bool {
	if len(id) != 2*idBytes {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// SessionStore keeps which session id stands for which eauth token: a bounded number, in all and of each user; the one
// that was not used for longest goes first. It looks ids up by their digest, so that the time that takes tells nothing
// about them. It has no clock and no locks.
type SessionStore struct {
	most, each int
	byID       map[[sha256.Size]byte]*list.Element
	byUser     map[string]*list.List // of the same *session, the last used in front
	all        *list.List
}

type session struct {
	key         [sha256.Size]byte
	token, user string
	used        time.Time
	inUser      *list.Element
}

// NewSessions makes a store for so many sessions.
func NewSessions(most, each int) *SessionStore {
	return &SessionStore{most: most, each: each, byID: map[[sha256.Size]byte]*list.Element{},
		byUser: map[string]*list.List{}, all: list.New()}
}

// Len is how many sessions there are.
func (s *SessionStore) Len() int { return s.all.Len() }

// Open keeps a token, and returns the new id for it.
func (s *SessionStore) Open(now time.Time, token, user string) string {
	s.expire(now)
	own := s.byUser[user]
	if own == nil {
		own = list.New()
		s.byUser[user] = own
	}
	if own.Len() >= s.each {
		s.remove(own.Back().Value.(*list.Element))
	}
	if s.all.Len() >= s.most {
		s.remove(s.all.Back())
	}
	if own = s.byUser[user]; own == nil { // the last of this user has gone
		own = list.New()
		s.byUser[user] = own
	}
	id := NewSessionID()
	one := &session{key: sha256.Sum256([]byte(id)), token: token, user: user, used: now}
	e := s.all.PushFront(one)
	one.inUser = own.PushFront(e)
	s.byID[one.key] = e
	return id
}

// Token is the token behind an id, and prolongs the session; "" when there is none.
func (s *SessionStore) Token(now time.Time, id string) string {
	s.expire(now)
	e := s.byID[sha256.Sum256([]byte(id))]
	if e == nil {
		return ""
	}
	one := e.Value.(*session)
	one.used = now
	s.all.MoveToFront(e)
	s.byUser[one.user].MoveToFront(one.inUser)
	return one.token
}

// Close forgets a session and returns its token.
func (s *SessionStore) Close(id string) string {
	e := s.byID[sha256.Sum256([]byte(id))]
	if e == nil {
		return ""
	}
	token := e.Value.(*session).token
	s.remove(e)
	return token
}

func (s *SessionStore) expire(now time.Time) {
	for e := s.all.Back(); e != nil && now.Sub(e.Value.(*session).used) > SessionLife; e = s.all.Back() {
		s.remove(e)
	}
}

func (s *SessionStore) remove(e *list.Element) {
	one := e.Value.(*session)
	s.all.Remove(e)
	delete(s.byID, one.key)
	own := s.byUser[one.user]
	if own.Remove(one.inUser); own.Len() == 0 {
		delete(s.byUser, one.user)
	}
}
