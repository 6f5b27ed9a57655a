package jobstore

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// Names of files in the directory of a job (salt/returners/local_cache.py).
const (
	fileJID     = "jid"        // the job id as text; its age is the age of the job
	fileNoCache = "nocache"    // empty; returns are not stored
	fileLoad    = ".load.p"    // the publish load
	fileMinions = ".minions.p" // sorted list of ids; .minions.SYNDIC.p those of a syndic
	fileReturn  = "return.p"   // in the directory of a minion: return, retcode, success
	fileOut     = "out.p"      // in the directory of a minion: the outputter
	fileEndTime = "endtime"
)

// layout is Salt's directory of jobs: jobs/<first two hex digits>/<rest> of the hash of the jid.
type layout struct {
	root    string // cachedir/jobs
	newHash func() hash.Hash
	last    *lastList
	shared  bool
}

// Modes of what lies below jobs. Salt's command line reads it as the user who runs it, so that others need to where
// somebody else than the master's user may publish.
func (l layout) fileMode() fs.FileMode {
	if l.shared {
		return 0o644
	}
	return 0o600
}

func (l layout) dirMode() fs.FileMode {
	if l.shared {
		return 0o755
	}
	return 0o700
}

func newLayout(cacheDir, hashType string, shared bool) (layout, error) {
	hashes := map[string]func() hash.Hash{
		"": sha256.New, "md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New,
		"sha384": sha512.New384, "sha512": sha512.New,
	}
	h, ok := hashes[hashType]
	if !ok {
		return layout{}, fmt.Errorf("job cache: unknown hash_type %q", hashType)
	}
	return layout{filepath.Join(cacheDir, "jobs"), h, &lastList{}, shared}, nil
}

// dir is the directory of a job.
func (l layout) dir(jid string) string {
	h := l.newHash()
	h.Write([]byte(jid))
	sum := hex.EncodeToString(h.Sum(nil))
	return filepath.Join(l.root, sum[:2], sum[2:])
}

// writeLoad writes the files that announce a job. Existing lists of minions are extended.
func (l layout) writeLoad(job Load, durable bool) error {
	dir := l.dir(job.JID)
	err := l.writeFresh(dir, job, durable)
	if errors.Is(err, fs.ErrExist) {
		return l.extend(dir, job, durable)
	}
	return err
}

// extend writes the files of a job into a directory that is there.
func (l layout) extend(dir string, job Load, durable bool) error {
	how := wholefile.Options{Mode: l.fileMode(), Umask: true, Sync: durable}
	if _, err := os.Lstat(filepath.Join(dir, fileJID)); err != nil {
		if err := wholefile.Write(filepath.Join(dir, fileJID), []byte(job.JID), wholefile.Options{Mode: l.fileMode(),
			Umask: true}); err != nil {
			return err
		}
	}
	if job.NoCache {
		if err := wholefile.Write(filepath.Join(dir, fileNoCache), nil, wholefile.Options{Mode: l.fileMode(),
			Umask: true}); err != nil {
			return err
		}
	}
	if job.Load != nil {
		if err := packedfile.Write(filepath.Join(dir, fileLoad), job.Load, how); err != nil {
			return err
		}
	}
	if job.Minions == nil {
		return nil
	}
	file, err := minionsFile(dir, job.Syndic)
	if err != nil {
		return err
	}
	known, _ := packedfile.Read(file) // none, or one that is damaged and is replaced
	return packedfile.Write(file, union(payload.Texts(known), job.Minions), how)
}

func minionsFile(dir, syndic string) (string, error) {
	if syndic == "" {
		return filepath.Join(dir, fileMinions), nil
	}
	if !validID(syndic) {
		return "", fmt.Errorf("store minions of syndic %q: no file can have that name", syndic)
	}
	return filepath.Join(dir, ".minions."+syndic+".p"), nil
}

// load reads a job's load; nil when there is none.
func (l layout) load(dir string) (*payload.Map, error) {
	v, err := packedfile.Read(filepath.Join(dir, fileLoad))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return nil, fmt.Errorf("read %s: %w: it holds no map", filepath.Join(dir, fileLoad), packedfile.ErrDamaged)
	}
	return m, nil
}

// minions is the sorted union of all lists of minions of a job. A damaged list counts as empty.
func (l layout) minions(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(globEscape(dir), ".minions.*p"))
	var out []string
	for _, file := range files {
		if v, err := packedfile.Read(file); err == nil {
			out = append(out, payload.Texts(v)...)
		}
	}
	return union(out, nil)
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// jobs calls each with the directory of every job until it returns false or an error.
func (l layout) jobs(each func(dir string) (bool, error)) error {
	tops, err := os.ReadDir(l.root)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, top := range tops {
		subs, err := os.ReadDir(filepath.Join(l.root, top.Name()))
		if err != nil {
			continue // no directory, or removed meanwhile
		}
		for _, sub := range subs {
			more, err := each(filepath.Join(l.root, top.Name(), sub.Name()))
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// remove takes the directory of a job away, and the one above it when that leaves it empty.
func (l layout) remove(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(dir)) // refused while other jobs are in it
	return nil
}

// orphanAge is how long a job directory without a jid file is left alone. Unlike Salt, which removes it at once
// and so may remove a job that is just being announced.
const orphanAge = time.Hour

// clean removes the jobs older than limit and directories that are no jobs. drop says whether a job may go.
func (l layout) clean(now time.Time, limit time.Duration, drop func(jid string) bool) (removed int, err error) {
	err = l.jobs(func(dir string) (bool, error) {
		file := filepath.Join(dir, fileJID)
		info, err := os.Stat(file)
		switch {
		case err == nil:
			jid, err := os.ReadFile(file)
			if err != nil || now.Sub(info.ModTime()) <= limit || !drop(string(jid)) {
				return true, nil
			}
		default:
			info, err = os.Stat(dir)
			if err != nil || now.Sub(info.ModTime()) <= max(orphanAge, limit) {
				return true, nil
			}
		}
		removed++
		return true, l.remove(dir)
	})
	return removed, err
}

// oldest lists the jobs by the age of their jid file, oldest first.
func (l layout) oldest() ([]aged, error) {
	var out []aged
	err := l.jobs(func(dir string) (bool, error) {
		if info, err := os.Stat(filepath.Join(dir, fileJID)); err == nil {
			out = append(out, aged{dir, info.ModTime(), treeSize(dir)})
		}
		return true, nil
	})
	slices.SortFunc(out, func(a, b aged) int { return a.when.Compare(b.when) })
	return out, err
}

type aged struct {
	dir  string
	when time.Time
	size int64
}

// treeSize is the number of bytes in the files below dir.
func treeSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}
