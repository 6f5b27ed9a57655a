package jobstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"brine/wire/disk/wholefile"
)

// returnFiles writes the returns of a commit once more, as files, for jobs that have files: those that Salt's own tools
// published or that nobody announced to this master. Salt's runners find them there (jobs.lookup_jid). The store has
// them already, so nothing waits for the disk, and what is lost with the process is lost for Salt's tools alone.
func (s *Store) returnFiles(stored []int, returns []Return) error {
	var first error             // one is told: a disk that is full is full for all
	dirs := map[string]string{} // jid → directory, "" of a job without files
	for _, i := range stored {
		r := returns[i]
		dir, met := dirs[r.JID]
		if !met {
			if dir = s.layout.dir(r.JID); !isDir(dir) {
				dir = ""
			}
			dirs[r.JID] = dir
		}
		if dir == "" {
			continue
		}
		if err := s.layout.writeReturn(filepath.Join(dir, r.ID), record(r.Load), false); err != nil && first == nil {
			first = fmt.Errorf("files of the return of %s for job %s: %w", r.ID, r.JID, err)
		}
	}
	if !s.opt.EndTimes {
		return first
	}
	return errors.Join(first, s.endTimeFiles(dirs))
}

// endTimeFiles notes in the files of jobs that a return has come just now.
func (s *Store) endTimeFiles(dirs map[string]string) error {
	var errs []error
	text := []byte(EndTime(s.opt.now()))
	for jid, dir := range dirs {
		if dir == "" {
			continue
		}
		if err := wholefile.Write(filepath.Join(dir, fileEndTime), text, wholefile.Options{Mode: s.layout.fileMode(),
			Umask: true}); err != nil {
			errs = append(errs, fmt.Errorf("end time of job %s: %w", jid, err))
		}
	}
	return errors.Join(errs...)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
