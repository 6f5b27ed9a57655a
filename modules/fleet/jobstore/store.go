package jobstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"
	"brine/wire/payload"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Options say where a job cache lies and what it keeps.
type Options struct {
	CacheDir  string        // the master's cachedir
	HashType  string        // of the job directories; "" is sha256
	Keep      time.Duration // age beyond which Clean removes a job; 0: none
	MaxBytes  int64         // beyond it the oldest jobs go first; 0: no cap
	Compact   CompactWhen   // when the file is written anew without its free pages
	SyncNotes bool          // Note waits for the disk itself
	// other users of this machine may read loads: they run salt (publisher_acl, external_auth)
	Shared   bool
	EndTimes bool                  // note when the last return came (job_cache_store_endtime)
	Damaged  func(setaside.Damage) // is told of each file that is damaged; may be nil
	Now      func() time.Time      // time.Now unless set
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o Options) tell(d setaside.Damage) {
	if o.Damaged != nil {
		o.Damaged(d)
	}
}

// StoreFile is the name of the job store in cachedir.
const StoreFile = "jobs.db"

// ErrInUse means that another process has the job store open.
var ErrInUse = errors.New("another process has it open")

// lockWait is how long Open waits for another process to let go of the file, for a master that restarts.
const lockWait = 5 * time.Second

// Store is brine's job store. One goroutine at a time may call Commit, one Clean and Compact, any number the other
// methods; Announce and Note may run beside all of them.
type Store struct {
	opt    Options
	file   string
	db     atomic.Pointer[bbolt.DB] // another one after Compact
	layout layout
	swept  time.Time // when Clean last looked for job directories that the store does not know
	whole  wholeJobs
	notes  *notes
	left   []Load // of takeNotes

	writing sync.Mutex // held by a write transaction
	changes *changes   // made while Compact copies, else nil; guarded by writing
	closed  bool       // guarded by writing
	retry   time.Time  // when Compact may try again after it could not

	suspect atomic.Pointer[error] // damage that a reader has met; the next commit repairs it
	repairs time.Time             // when that may be tried again; guarded by writing
	failing bool                  // the last repair could not be made; guarded by writing
	checked bool                  // every page was looked at; of Clean

	released atomic.Int64 // when the pages of the file were given back, in nanoseconds since 1970
}

// Buckets of the file. A key of returns is jid, NUL, id; beside the returns of a job lie its facts, see facts.go; one
// of order is the time of creation (8 bytes) and the jid; its value is the minion whose own job it is, empty of those
// that somebody asked the master for. totals holds the number of bytes of all keys and values under "bytes", and the
// version of the format.
var (
	bucketJobs    = []byte("jobs")
	bucketReturns = []byte("returns")
	bucketOrder   = []byte("order")
	bucketTotals  = []byte("totals")
	keyBytes      = []byte("bytes")
	keyVersion    = []byte("version")
)

// formatVersion is the version of the file's format.
const formatVersion = 1

// Open opens the job store in CacheDir, and makes it when there is none. What is whole of a damaged file is taken over
// into another one, and the damaged one is set aside; Options.Damaged is told.
func Open(opt Options) (*Store, error) {
	l, err := newLayout(opt.CacheDir, opt.HashType, opt.Shared)
	if err != nil {
		return nil, err
	}
	spread(l.root) // of an older release
	s := &Store{opt: opt, file: filepath.Join(opt.CacheDir, StoreFile), layout: l}
	err = s.open()
	if errors.Is(err, packedfile.ErrDamaged) {
		var d setaside.Damage
		if d, err = rebuild(s.file, err, opt.now()); err == nil {
			opt.tell(d)
			err = s.open()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open job store %s: %w", s.file, err)
	}
	return s, nil
}

// open opens the file and makes it ready for work.
func (s *Store) open() error {
	head := damagedHead(s.file) // before anything is written
	db, err := openFile(s.file, lockWait)
	if err != nil {
		return err
	}
	s.db.Store(db)
	if err := s.prepare(); err != nil {
		return errors.Join(err, guarded(db.Close))
	}
	if head != nil {
		s.opt.tell(setaside.Damage{Path: s.file, Err: head})
	}
	return nil
}

// prepare makes a file that was opened ready for work.
func (s *Store) prepare() (err error) {
	if err := ignoreMissing(os.Remove(s.file + compactSuffix)); err != nil {
		return err
	}
	if err := s.view(prepared); errors.Is(err, errUnprepared) {
		// a file that is ready is not written: there may be no room
		err = s.update(prepare)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if s.notes, err = openNotes(filepath.Join(s.opt.CacheDir, NotesFile), s.opt.SyncNotes, s.opt.tell); err != nil {
		return err
	}
	return s.takeNotes()
}

// openFile opens the file that has the name when it is locked: who had it before may have put another in its place.
func openFile(file string, wait time.Duration) (db *bbolt.DB, err error) {
	for {
		var same bool
		db, same, err = openOnce(file, wait)
		if err != nil || same {
			return db, err
		}
		if err := db.Close(); err != nil {
			return nil, err
		}
	}
}

func openOnce(file string, wait time.Duration) (db *bbolt.DB, same bool, err error) {
	if err = checkFile(file); errors.Is(err, fs.ErrNotExist) {
		err = makeFile(file)
	}
	if err != nil {
		return nil, false, err
	}
	var mine os.FileInfo
	var held *os.File
	opt := &bbolt.Options{Timeout: wait, FreelistType: bbolt.FreelistMapType, NoStatistics: true}
	opt.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		if err == nil {
			mine, err = f.Stat()
		}
		held = f
		return f, err
	}
	err = guarded(func() error {
		db, err = bbolt.Open(file, 0o600, opt)
		return err
	})
	if err != nil && held != nil {
		// bbolt keeps the lock when it panics, and its memory holds that
		_ = errors.Join(syscall.Flock(int(held.Fd()), syscall.LOCK_UN), held.Close())
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, false, ErrInUse
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum),
		errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, false, fmt.Errorf("%w: %w", packedfile.ErrDamaged, err)
	case err != nil:
		return nil, false, err
	}
	there, err := os.Stat(file)
	return db, err == nil && os.SameFile(mine, there), nil
}

// makeFile makes an empty store under another name first: a file without bytes is never a new one.
func makeFile(file string) error {
	temp := file + ".new"
	if err := ignoreMissing(os.Remove(temp)); err != nil {
		return err
	}
	db, err := bbolt.Open(temp, 0o600, nil)
	if err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(temp)))
	}
	if err = db.Close(); err == nil {
		err = os.Link(temp, file)
	}
	if errors.Is(err, fs.ErrExist) { // another process was first
		err = nil
	}
	return errors.Join(err, os.Remove(temp))
}

// damagedHead tells of a file of which one of the two heads is damaged. The other one holds, and is that of the last
// commit or of the one before. The next commit mends it.
func damagedHead(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	if newest, whole := newestMeta(f); whole || newest.pages == 0 {
		return nil
	}
	return fmt.Errorf("%w: one of its two heads cannot be read; what came with the last commit may be missing",
		packedfile.ErrDamaged)
}

// suspects notes damage that somebody has met.
func (s *Store) suspects(err error) {
	if errors.Is(err, packedfile.ErrDamaged) {
		s.suspect.Store(&err)
	}
}

var errUnprepared = errors.New("it has no buckets yet")

// prepared looks whether a file has all that prepare makes.
func prepared(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketJobs, bucketReturns, bucketOrder, bucketTotals} {
		if tx.Bucket(name) == nil {
			return errUnprepared
		}
	}
	return checkVersion(tx.Bucket(bucketTotals).Get(keyVersion))
}

// checkVersion is errUnprepared for none.
func checkVersion(v []byte) error {
	switch {
	case v == nil:
		return errUnprepared
	case !bytes.Equal(v, []byte{formatVersion}):
		return fmt.Errorf("its format has version %d, this program knows %d", v, formatVersion)
	}
	return nil
}

// prepare makes the buckets of a new file and checks the version of an old one.
func prepare(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketJobs, bucketReturns, bucketOrder, bucketTotals} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	totals := tx.Bucket(bucketTotals)
	err := checkVersion(totals.Get(keyVersion))
	if errors.Is(err, errUnprepared) {
		return totals.Put(keyVersion, []byte{formatVersion})
	}
	return err
}

// Close closes the file. No other method may be called afterwards.
func (s *Store) Close() error {
	s.writing.Lock()
	s.closed = true
	err := s.db.Load().Close()
	s.writing.Unlock()
	if s.notes != nil {
		err = errors.Join(err, s.notes.close())
	}
	return err
}

// Path is the name of the file.
func (s *Store) Path() string { return s.file }

// Bytes is the size of everything stored, keys included. The file is larger: free pages stay in it.
func (s *Store) Bytes() (n int64, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		n = totalBytes(tx)
		return nil
	})
	return n, err
}

// update and view run a transaction. Damage that shows up as a panic or a memory fault is an error.
func (s *Store) update(f func(*bbolt.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return guarded(func() error { return s.db.Load().Update(f) })
}

func (s *Store) view(f func(*bbolt.Tx) error) error {
	for {
		db := s.db.Load()
		err := guarded(func() error { return db.View(f) })
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) && s.db.Load() != db { // Compact has put another in its place
			continue
		}
		s.suspects(err)
		return err
	}
}

func totalBytes(tx *bbolt.Tx) int64 {
	if v := tx.Bucket(bucketTotals).Get(keyBytes); len(v) == 8 {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func setTotalBytes(tx *bbolt.Tx, n int64) error {
	return tx.Bucket(bucketTotals).Put(keyBytes, binary.BigEndian.AppendUint64(nil, uint64(max(n, 0))))
}

// job is a stored job.
type job struct {
	created time.Time
	noCache bool
	load    *payload.Map // nil: only minions are known
	minions []string
	endTime string
}

// pack writes a job: time of creation (8 bytes), nocache (1), then a msgpack map.
func (j *job) pack() ([]byte, error) {
	head := binary.BigEndian.AppendUint64(nil, uint64(j.created.UnixNano()))
	head = append(head, 0)
	if j.noCache {
		head[8] = 1
	}
	m := payload.M("minions", j.minions)
	if j.load != nil {
		m.Set("load", j.load)
	}
	if j.endTime != "" {
		m.Set("endtime", j.endTime)
	}
	return payload.AppendBin(head, m)
}

// unpackJob reads what pack wrote.
func unpackJob(b []byte) (*job, error) {
	if len(b) < 10 {
		return nil, fmt.Errorf("read job: %w", packedfile.ErrDamaged)
	}
	m, err := payload.UnmarshalBinMap(b[9:])
	if err != nil {
		return nil, fmt.Errorf("read job: %w: %w", packedfile.ErrDamaged, err)
	}
	j := &job{created: createdOf(b), noCache: b[8] == 1, minions: payload.Texts(m.Value("minions")),
		endTime: m.Str("endtime")}
	j.load, _ = m.Value("load").(*payload.Map)
	return j, nil
}

func createdOf(b []byte) time.Time { return time.Unix(0, int64(binary.BigEndian.Uint64(b))) }

// orderKey is the key of a job in the bucket order.
func orderKey(created []byte, jid string) []byte { return append(bytes.Clone(created[:8]), jid...) }

// returnKey is the key of a return.
func returnKey(jid, id string) []byte { return []byte(jid + "\x00" + id) }
