package fileserver

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"brine/wire/payload"
)

// hashers are the values of hash_type.
var hashers = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384,
	"sha512": sha512.New,
}

// Hashers are the values of hash_type, and what makes each.
func Hashers() map[string]func() hash.Hash { return maps.Clone(hashers) }

// maxHashes bounds one generation of remembered hashes; there are two.
const maxHashes = 16384

// longHash is the size in bytes from which on a file takes long to be hashed.
const longHash = 16 << 20

// Long tells whether an answer takes long: the hash of a large file that is not remembered.
func (s *Server) Long(cmd string, load *payload.Map) bool {
	path, hasPath := text(load, "path")
	env, hasEnv := text(load, "saltenv")
	if cmd != payload.CmdFileHash && cmd != payload.CmdFileHashAndStat || !hasPath || !hasEnv {
		return false
	}
	f, _, ok := s.Find(path, env)
	if !ok || f.Err != nil {
		return false
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Size() < longHash {
		return false
	}
	now, known := stateOf(info)
	_, kept := s.hashes.recall(f.Path, now)
	return !known || !kept
}

// hashes remembers the hashes of files for as long as these stay the same. A file that many ask for at the same time
// is read once.
type hashes struct {
	name string
	make func() hash.Hash

	long chan struct{} // a place for each large file that is read at the same time

	mu         sync.Mutex
	young, old map[string]hashed
	busy       map[string]*sync.WaitGroup // paths that are being read
}

// hashed is a hash and the state of the file that has it.
type hashed struct {
	state state
	sum   string
}

// state tells whether a file is still the same.
type state struct {
	dev, ino             uint64
	size                 int64
	modified, changed    int64 // seconds
	modifiedNs, changeNs int64
}

// settled tells whether a change from now on would show: file systems count time in steps of some milliseconds, or in
// whole seconds.
func (s state) settled(now time.Time) bool {
	step := 100 * time.Millisecond
	if s.changeNs == 0 {
		step = 2 * time.Second
	}
	return now.Sub(time.Unix(s.changed, s.changeNs)) > step
}

func newHashes(name string) (*hashes, error) {
	h, ok := hashers[name]
	if !ok {
		return nil, fmt.Errorf("fileserver: no hash_type %q", name)
	}
	return &hashes{name: name, make: h, long: make(chan struct{}, max(1, runtime.NumCPU()/2)),
		young: map[string]hashed{}, busy: map[string]*sync.WaitGroup{}}, nil
}

// of is the hash of the file at path, which open opens.
func (h *hashes) of(path string, open func() (*os.File, os.FileInfo, error)) (string, error) {
	for {
		done, mine := h.begin(path)
		if mine {
			defer h.end(path, done)
			break
		}
		done.Wait() // what somebody else has read is there now, if the file has stayed the same
	}
	file, info, err := open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	before, known := stateOf(info)
	if sum, ok := h.recall(path, before); ok && known {
		return sum, nil
	}
	if info.Size() >= longHash {
		h.long <- struct{}{}
		defer func() { <-h.long }()
	}
	sum := h.make()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	text := hex.EncodeToString(sum.Sum(nil))
	if info, err = file.Stat(); err != nil {
		return "", err
	}
	if after, _ := stateOf(info); known && after == before && after.settled(time.Now()) {
		h.keep(path, hashed{before, text})
	}
	return text, nil
}

// begin makes this goroutine the one that reads path, or returns whom to wait for.
func (h *hashes) begin(path string) (done *sync.WaitGroup, mine bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.busy[path]; other != nil {
		return other, false
	}
	done = new(sync.WaitGroup)
	done.Add(1)
	h.busy[path] = done
	return done, true
}

func (h *hashes) end(path string, done *sync.WaitGroup) {
	h.mu.Lock()
	delete(h.busy, path)
	h.mu.Unlock()
	done.Done()
}

func (h *hashes) recall(path string, now state) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept, ok := h.young[path]
	if !ok {
		if kept, ok = h.old[path]; ok {
			h.put(path, kept)
		}
	}
	return kept.sum, ok && kept.state == now
}

func (h *hashes) keep(path string, kept hashed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(path, kept)
}

// put remembers; h.mu is held.
func (h *hashes) put(path string, kept hashed) {
	if len(h.young) >= maxHashes {
		h.young, h.old = map[string]hashed{}, h.young
	}
	h.young[path] = kept
}

// stateOf is the state of a file; not known where the system does not tell.
func stateOf(info os.FileInfo) (state, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return state{}, false
	}
	return state{uint64(s.Dev), s.Ino, s.Size, int64(s.Mtim.Sec), int64(s.Ctim.Sec), int64(s.Mtim.Nsec),
		int64(s.Ctim.Nsec)}, true
}
