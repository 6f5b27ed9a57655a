package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Folders of the sessions in cachedir: the session keys as Salt's masters keep them, and beside them whom each was
// made for.
const (
	sessionsDir    = "sessions"
	sessionKeysDir = "session_keys"
)

// Sessions keeps the session keys of accepted minions: a file for each id in cachedir/sessions, as Salt's
// masters do. Unlike Salt: a session counts only for the public key it was made for. A file of the same name in
// cachedir/session_keys tells which that is; a session without one, such as another master has left, counts for nobody,
// and its minion signs in again. It is safe for concurrent use.
type Sessions struct {
	dir, owners string
	ttl         time.Duration
	files       fileCache
	cache       nameCache[*session]
}

// session is a session key string, when it was made, and the mark of the public key that it was made for.
type session struct {
	key  string
	made time.Time
	mark string
	of   atomic.Pointer[string] // the public key that was compared with the mark last, and is the one
}

// NewSessions opens the folder sessions of cacheDir. ttl is publish_session.
func NewSessions(cacheDir string, ttl time.Duration) *Sessions {
	s := &Sessions{dir: filepath.Join(cacheDir, sessionsDir), owners: filepath.Join(cacheDir, sessionKeysDir), ttl: ttl}
	s.cache.read, s.cache.folders = s.read, []string{s.dir, s.owners}
	return s
}

// Close ends the watch over the folders; see AuthKeys.Close.
func (s *Sessions) Close() { s.cache.close() }

// Session returns id's key string; not ok when it has none, or one that was made for another public key than pub, or
// one older than publish_session at now.
func (s *Sessions) Session(id, pub string, now time.Time) (key string, ok bool) {
	if !ValidID(id) {
		return "", false
	}
	known, ok := s.cache.get(id)
	if !ok || now.Sub(known.made) > s.ttl || !known.madeFor(pub) {
		return "", false
	}
	return known.key, true
}

// Foreign tells whether id has a session that was made for another public key than pub. One of which it is not known
// for whom it was made is none.
func (s *Sessions) Foreign(id, pub string) bool {
	if !ValidID(id) {
		return false
	}
	known, ok := s.cache.get(id)
	return ok && known.mark != "" && !known.madeFor(pub)
}

func (s *Sessions) read(id string) (*session, bool) {
	text, written, ok := s.files.read(filepath.Join(s.dir, id))
	if !ok {
		return nil, false
	}
	out := &session{key: strings.TrimSpace(text), made: written}
	owner, _, _ := s.files.read(filepath.Join(s.owners, id))
	// The first line is of the session key: a mark that another master's session stands beside is of no use.
	if of, mark, _ := strings.Cut(strings.TrimSpace(owner), "\n"); of == digest(out.key) {
		out.mark = mark
	}
	return out, true
}

// madeFor tells whether a session was made for a public key. One digest is made for a key, not one for each request.
func (s *session) madeFor(pub string) bool {
	if of := s.of.Load(); of != nil && *of == pub {
		return true
	}
	if s.mark == "" || s.mark != digest(pub) {
		return false
	}
	s.of.Store(&pub)
	return true
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Create stores a new key string for id, made for pub, in place of any other.
func (s *Sessions) Create(id, pub, key string, now time.Time) error {
	if err := checkID(id); err != nil {
		return err
	}
	err := s.create(id, pub, key)
	if err == nil {
		err = os.Chtimes(filepath.Join(s.dir, id), now, now)
	}
	if err != nil {
		return fmt.Errorf("store session key of %s: %w", id, err)
	}
	return nil
}

// create writes the mark first: a session key is never found beside the mark of somebody else.
func (s *Sessions) create(id, pub, key string) error {
	for _, f := range [...]struct{ dir, text string }{{s.owners, digest(key) + "\n" + digest(pub) + "\n"},
		{s.dir, key}} {
		if err := os.MkdirAll(f.dir, dirMode); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(f.dir, id), []byte(f.text), keyMode, nil, false); err != nil {
			return err
		}
	}
	return nil
}

// Remove forgets id's key, also when there is none.
func (s *Sessions) Remove(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return removeSession(filepath.Dir(s.dir), id)
}

// removeSession removes the session of an id below a cachedir.
func removeSession(cacheDir, id string) error {
	for _, dir := range [...]string{sessionsDir, sessionKeysDir} {
		if err := os.Remove(filepath.Join(cacheDir, dir, id)); err != nil && !absent(err) {
			return fmt.Errorf("remove session key of %s: %w", id, err)
		}
	}
	return nil
}
