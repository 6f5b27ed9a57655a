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

// spool keeps the returns of one master on disk until the master has acknowledged them: one file each, written
// beside its place and renamed. It belongs to one ReturnSender.
type spool struct {
	dir      string
	maxBytes int64         // 0: no cap
	maxAge   time.Duration // 0: kept for ever
}

// spoolSuffix marks a complete file.
const spoolSuffix = ".p"

// put writes one return. The file is safe against the death of this process, not against that of the host.
func (s *spool) put(now time.Time, jid string, load *payload.Map) (string, error) {
	b, err := payload.MarshalBin(load)
	if err != nil {
		return "", fmt.Errorf("spool return of job %s: %w", jid, err)
	}
	name := fmt.Sprintf("%020d_%s%s", now.UnixMicro(), safeName(jid), spoolSuffix)
	path := filepath.Join(s.dir, name)
	err = os.WriteFile(path+".tmp", b, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(s.dir, 0o700); err == nil {
			err = os.WriteFile(path+".tmp", b, 0o600)
		}
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("spool return of job %s: %w", jid, err), removeIfThere(path+".tmp"))
	}
	return name, nil
}

// safeName makes a jid a file name; jids come from outside.
func safeName(jid string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == 0 || r == filepath.Separator {
			return '_'
		}
		return r
	}, jid)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// done removes a return the master has.
func (s *spool) done(name string) error { return removeIfThere(filepath.Join(s.dir, name)) }

// names lists the spool, oldest first.
func (s *spool) names() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), spoolSuffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

// get reads one return. A file that cannot be read is set aside under another name, so that it is neither
// sent nor lost.
func (s *spool) get(name string) (*payload.Map, error) {
	path := filepath.Join(s.dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read spooled return: %w", err)
	}
	load, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spooled return %s: %w", name, err), os.Rename(path, path+".bad"))
	}
	return load, nil
}

// trim drops returns that are too old, and the oldest ones beyond the size cap. It names what it dropped.
func (s *spool) trim(now time.Time) (dropped []string, err error) {
	names, err := s.names()
	sizes := make([]int64, len(names))
	var total int64
	for i, n := range names {
		if info, statErr := os.Stat(filepath.Join(s.dir, n)); statErr == nil {
			sizes[i] = info.Size()
			total += sizes[i]
		}
	}
	for i, n := range names {
		old := s.maxAge > 0 && now.Sub(spoolTime(n)) > s.maxAge
		if !old && (s.maxBytes <= 0 || total <= s.maxBytes) {
			continue
		}
		if rmErr := s.done(n); rmErr != nil {
			err = errors.Join(err, rmErr)
			continue
		}
		total -= sizes[i]
		dropped = append(dropped, n)
	}
	return dropped, err
}

// spoolTime reads the time from a file name.
func spoolTime(name string) time.Time {
	var us int64
	if _, err := fmt.Sscanf(name, "%020d_", &us); err != nil {
		return time.Time{}
	}
	return time.UnixMicro(us)
}
