package returners

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"brine/wire/payload"
)

// Options say where a job cache lies and what it keeps.
type Options struct {
	CacheDir string           // the master's cachedir
	HashType string           // of the job directories; "" is sha256
	Keep     time.Duration    // age beyond which Clean removes a job; 0: none
	MaxBytes int64            // beyond it the oldest jobs go first; 0: no cap
	EndTimes bool             // note when the last return came (job_cache_store_endtime)
	Now      func() time.Time // time.Now unless set
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// StoreFile is the name of the job store in cachedir.
const StoreFile = "jobs.db"

// ErrInUse means that another process has the job store open.
var ErrInUse = errors.New("another process has it open")

// lockWait is how long Open waits for another process to let go of the file, for a master that restarts.
const lockWait = 5 * time.Second

// Store is brine's job store. One goroutine at a time may call Commit and Clean, any number the other methods;
// Announce and Note may run beside all of them.
type Store struct {
	opt    Options
	file   string
	db     *bbolt.DB
	layout layout
	swept  time.Time // when Clean last looked for job directories that the store does not know
	whole  wholeJobs
	notes  *notes
}

// Buckets of the file. A key of returns is jid, NUL, id; beside the returns of a job lie its facts, see facts.go; one of order is the time of creation (8 bytes) and the
// jid. totals holds the number of bytes of all keys and values under "bytes", and the version of the format.
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

// Open opens the job store in CacheDir, and makes it when there is none. A damaged file is an error that wraps
// ErrDamaged and is left as it is.
func Open(opt Options) (*Store, error) {
	l, err := newLayout(opt.CacheDir, opt.HashType)
	if err != nil {
		return nil, err
	}
	spread(l.root) // of an older release
	file := filepath.Join(opt.CacheDir, StoreFile)
	db, err := openFile(file, lockWait)
	if err != nil {
		return nil, fmt.Errorf("open job store %s: %w", file, err)
	}
	s := &Store{opt: opt, file: file, db: db, layout: l}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("open job store %s: %w", file, err), s.Close())
	}
	return s, nil
}

// prepare makes a file that was opened ready for work.
func (s *Store) prepare() (err error) {
	if err := s.update(prepare); err != nil {
		return err
	}
	if s.notes, err = openNotes(filepath.Join(s.opt.CacheDir, NotesFile)); err != nil {
		return err
	}
	return s.takeNotes()
}

func openFile(file string, wait time.Duration) (db *bbolt.DB, err error) {
	if err := checkFile(file); err != nil {
		return nil, err
	}
	err = guarded(func() error {
		db, err = bbolt.Open(file, 0o600, &bbolt.Options{Timeout: wait, FreelistType: bbolt.FreelistMapType, NoStatistics: true})
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrInUse
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return db, err
}

// SetAside renames a job store that cannot be opened, so that a new one can be made. It returns the new name.
func SetAside(cacheDir string, now time.Time) (string, error) {
	from := filepath.Join(cacheDir, StoreFile)
	to := from + ".damaged-" + now.UTC().Format("20060102150405")
	if err := os.Rename(from, to); err != nil {
		return "", fmt.Errorf("set job store aside: %w", err)
	}
	return to, nil
}

// prepare makes the buckets of a new file and checks the version of an old one.
func prepare(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketJobs, bucketReturns, bucketOrder, bucketTotals} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	totals := tx.Bucket(bucketTotals)
	switch v := totals.Get(keyVersion); {
	case v == nil:
		return totals.Put(keyVersion, []byte{formatVersion})
	case !bytes.Equal(v, []byte{formatVersion}):
		return fmt.Errorf("its format has version %d, this program knows %d", v, formatVersion)
	}
	return nil
}

// Close closes the file. No other method may be called afterwards.
func (s *Store) Close() error {
	err := s.db.Close()
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
	return guarded(func() error { return s.db.Update(f) })
}

func (s *Store) view(f func(*bbolt.Tx) error) error {
	return guarded(func() error { return s.db.View(f) })
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
		return nil, fmt.Errorf("read job: %w", ErrDamaged)
	}
	m, err := payload.UnmarshalBinMap(b[9:])
	if err != nil {
		return nil, fmt.Errorf("read job: %w: %w", ErrDamaged, err)
	}
	j := &job{created: createdOf(b), noCache: b[8] == 1, minions: texts(m.Value("minions")), endTime: m.Str("endtime")}
	j.load, _ = m.Value("load").(*payload.Map)
	return j, nil
}

func createdOf(b []byte) time.Time { return time.Unix(0, int64(binary.BigEndian.Uint64(b))) }

// orderKey is the key of a job in the bucket order.
func orderKey(created []byte, jid string) []byte { return append(bytes.Clone(created[:8]), jid...) }

// returnKey is the key of a return.
func returnKey(jid, id string) []byte { return []byte(jid + "\x00" + id) }
