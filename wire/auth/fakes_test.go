package auth

import (
	"errors"
	"sync"
	"testing"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// memKeys is a KeyStore in memory.
type memKeys struct {
	mu     sync.Mutex
	state  map[string]string
	pub    map[string]string
	denied map[string]string
	stubs  map[string]bool
	err    error // returned by Get and Put
}

func newKeys() *memKeys {
	return &memKeys{state: map[string]string{}, pub: map[string]string{}, denied: map[string]string{},
		stubs: map[string]bool{}}
}

func (k *memKeys) Get(id string) (state, pub string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state[id], k.pub[id], k.err
}

func (k *memKeys) Accepted(id string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pub[id], k.state[id] == StateAccepted
}

func (k *memKeys) Put(id, state, pub string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if state == StateDenied {
		k.denied[id] = pub
		return k.err
	}
	k.state[id], k.pub[id] = state, pub
	return k.err
}

func (k *memKeys) TakeAutosign(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	had := k.stubs[id]
	delete(k.stubs, id)
	return had
}

func (k *memKeys) remove(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.state, id)
	delete(k.pub, id)
}

// memSessions is a SessionStore in memory.
type memSessions struct {
	mu     sync.Mutex
	key    map[string]string
	pub    map[string]string
	made   map[string]time.Time
	maxAge time.Duration
	err    error // returned by Create
}

func newSessions() *memSessions {
	return &memSessions{key: map[string]string{}, pub: map[string]string{}, made: map[string]time.Time{},
		maxAge: 24 * time.Hour}
}

func (s *memSessions) Session(id, pub string, now time.Time) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.key[id]
	return key, ok && s.pub[id] == pub && now.Sub(s.made[id]) <= s.maxAge
}

func (s *memSessions) Foreign(id, pub string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.key[id]
	return ok && s.pub[id] != pub
}

func (s *memSessions) Create(id, pub, key string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key[id], s.pub[id], s.made[id] = key, pub, now
	return s.err
}

func (s *memSessions) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.key, id)
	return nil
}

func (s *memSessions) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.key)
}

// memTrust is a TrustStore in memory.
type memTrust struct {
	master, signing string
	err             error
	sets            int
}

func (s *memTrust) MasterKey() (string, error)  { return s.master, s.err }
func (s *memTrust) SigningKey() (string, error) { return s.signing, nil }
func (s *memTrust) TakeMasterKey(pub string) (string, error) {
	if s.master != "" {
		return s.master, nil
	}
	return pub, s.SetMasterKey(pub)
}
func (s *memTrust) SetMasterKey(pub string) error {
	s.master = pub
	s.sets++
	return nil
}

// memFiles is a RuleFiles in memory; a directory is the name before the last slash.
type memFiles map[string][]string

func (f memFiles) Lines(path string) ([]string, bool) { return f[path], f["hanging "+path] == nil }
func (f memFiles) Names(dir string) (names []string, known bool) {
	for path := range f {
		if len(path) > len(dir)+1 && path[:len(dir)+1] == dir+"/" {
			names = append(names, path[len(dir)+1:])
		}
	}
	return names, true
}

var errDisk = errors.New("no space left")

// testTime is a time after the recording of the vectors.
var testTime = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// keyring caches the parsed keys of rsa.json.
type keyring struct {
	t     testing.TB
	pairs map[string]wiretest.KeyPair
}

func keysOf(t testing.TB) keyring { return keyring{t, wiretest.Load(t, "rsa").Keys()} }

func (k keyring) private(name string) *crypt.PrivateKey {
	k.t.Helper()
	key, err := crypt.ParsePrivateKey([]byte(k.pairs[name].Private), "")
	if err != nil {
		k.t.Fatal(err)
	}
	return key
}

func (k keyring) pub(name string) string { return CleanKey(k.pairs[name].Public) }

// masterRig is a Master over stores in memory.
type masterRig struct {
	*Master
	keys     *memKeys
	sessions *memSessions
}

func newMaster(t testing.TB, change func(*MasterOptions)) masterRig {
	t.Helper()
	keys, sessions := newKeys(), newSessions()
	opt := MasterOptions{
		Key: keysOf(t).private("master"), Keys: keys, Sessions: sessions,
		PublishPort: 4505, MinimumAuthVersion: 3, SignPublications: true,
	}
	if change != nil {
		change(&opt)
	}
	m, err := NewMaster(opt)
	if err != nil {
		t.Fatal(err)
	}
	return masterRig{m, keys, sessions}
}

func newMinion(t testing.TB, change func(*MinionOptions)) (*Minion, *memTrust) {
	t.Helper()
	trust := &memTrust{}
	opt := MinionOptions{ID: "m1", Key: keysOf(t).private("minion"), Trust: trust,
		AcceptanceWait: 10 * time.Second, Now: func() time.Time { return testTime }}
	if change != nil {
		change(&opt)
	}
	m, err := NewMinion(opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, trust
}

func decodeRequest(t testing.TB, frame []byte) *payload.Request {
	t.Helper()
	req, err := payload.DecodeRequest(frame)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func unmarshal(t testing.TB, b []byte) any {
	t.Helper()
	v, err := payload.Unmarshal(b)
	if err != nil {
		t.Fatalf("unmarshal %x: %v", b, err)
	}
	return v
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := payload.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
