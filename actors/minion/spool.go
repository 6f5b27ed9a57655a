package minion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/wire/payload"
)

// spool keeps the returns of one master on disk until the master has acknowledged them: one file each, named by
// the job, so that a return which is put twice is there once. It belongs to one ReturnSender.
type spool struct {
	dir      string
	maxBytes int64         // 0: no cap
	maxAge   time.Duration // 0: kept for ever
}

// Endings of files in the spool.
const (
	spoolSuffix = ".p"   // a whole return
	badSuffix   = ".bad" // one that cannot be read: neither sent nor lost
)

// errUnpackable means that a return cannot be put into bytes, now or later.
var errUnpackable = errors.New("the return cannot be packed")

// put writes one return and tells its size.
func (s *spool) put(key string, load *payload.Map) (int64, error) {
	b, err := payload.MarshalBin(load)
	if err != nil {
		return 0, fmt.Errorf("spool return %s: %w: %w", key, errUnpackable, err)
	}
	if err := writeFile(s.path(key), b, 0o600); err != nil {
		return 0, fmt.Errorf("spool return %s: %w", key, err)
	}
	return int64(len(b)), nil
}

func (s *spool) path(key string) string { return filepath.Join(s.dir, key+spoolSuffix) }

func (s *spool) done(key string) error { return removeIfThere(s.path(key)) }

func (s *spool) has(key string) bool {
	_, err := os.Lstat(s.path(key))
	return err == nil
}

// get reads one return. A file that cannot be read is set aside under another name.
func (s *spool) get(key string) (*payload.Map, error) {
	b, err := os.ReadFile(s.path(key))
	if err != nil {
		return nil, fmt.Errorf("spooled return: %w", err)
	}
	load, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spooled return %s: %w", key, err), os.Rename(s.path(key), s.path(key)+badSuffix))
	}
	return load, nil
}

// spooled is one return in the spool.
type spooled struct {
	key  string
	size int64
	at   time.Time // when it was put
}

// list reads the spool, oldest first, and clears what a death in the middle of a put has left.
func (s *spool) list() ([]spooled, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []spooled
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tmpSuffix) {
			err = errors.Join(err, removeIfThere(filepath.Join(s.dir, e.Name())))
			continue
		}
		key, ok := strings.CutSuffix(e.Name(), spoolSuffix)
		info, statErr := e.Info()
		if ok && statErr == nil {
			all = append(all, spooled{key, info.Size(), info.ModTime()})
		}
	}
	slices.SortStableFunc(all, func(a, b spooled) int { return a.at.Compare(b.at) })
	return all, err
}

// surplus picks what has to go: what is too old, and the oldest beyond the cap.
func (s *spool) surplus(all []spooled, now time.Time) (drop []spooled) {
	var total int64
	for _, r := range all {
		total += r.size
	}
	for _, r := range all {
		old := s.maxAge > 0 && now.Sub(r.at) > s.maxAge
		if !old && (s.maxBytes <= 0 || total <= s.maxBytes) {
			continue
		}
		total -= r.size
		drop = append(drop, r)
	}
	return drop
}
