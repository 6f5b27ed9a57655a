package jobstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// fileBy names the minion whose job it is; a job that somebody asked the master for has none. Salt's tools pass over
// it.
const fileBy = ".by"

// setOwner notes whose job it is that has just been written. A job that somebody asks the master for is no minion's any
// more.
func (l layout) setOwner(job Load, fresh bool) error {
	dir := l.dir(job.JID)
	switch {
	case fresh && validID(job.By):
		return wholefile.Write(filepath.Join(dir, fileBy), []byte(job.By), wholefile.Options{Mode: l.fileMode(),
			Umask: true})
	case !fresh && job.By == "" && job.Load != nil:
		return ignoreMissing(os.Remove(filepath.Join(dir, fileBy)))
	}
	return nil
}

// has tells whether the load of a job is there.
func (l layout) has(jid string) bool {
	_, err := os.Lstat(filepath.Join(l.dir(jid), fileLoad))
	return err == nil
}

// ownerOf is the minion whose job it is; "" when it is none's.
func ownerOf(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, fileBy))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// Asked is GetLoad for a job that somebody asked the master for; nil when it is a minion's own.
func (c *LocalCache) Asked(jid string) (*payload.Map, error) {
	if by, err := ownerOf(c.layout.dir(jid)); err != nil || by != "" {
		return nil, err
	}
	return c.GetLoad(jid)
}

// shrinkOwn chooses what goes first where all is too much, as that of txn does: of the minion with the most bytes of
// its own the oldest jobs, as long as it has more than its share. jobs are in order; those that stay are returned.
func shrinkOwn(jobs []aged, most int64) (gone, stay []aged, total int64) {
	byOwner, owners := map[string]int64{}, make([]string, len(jobs))
	for i, j := range jobs {
		total += j.size
		if by, err := ownerOf(j.dir); err == nil && by != "" {
			owners[i] = by
			byOwner[by] += j.size
		}
	}
	drop := make([]bool, len(jobs))
	next := map[string]int{} // where to look for the oldest job that a minion has left
	for total > most {
		by, bytes := "", most/ownShare
		for id, n := range byOwner {
			if n > bytes || n == bytes && by != "" && id < by {
				by, bytes = id, n
			}
		}
		if by == "" {
			break
		}
		i := next[by]
		for owners[i] != by {
			i++
		}
		next[by], drop[i] = i+1, true
		byOwner[by] -= jobs[i].size
		total -= jobs[i].size
	}
	for i, j := range jobs {
		if drop[i] {
			gone = append(gone, j)
		} else {
			stay = append(stay, j)
		}
	}
	return gone, stay, total
}
