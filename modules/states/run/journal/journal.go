// Package journal keeps on disk what a run of states has done: which chunks there are, which of them were begun, and
// the returns of those that ended. A process that comes after one that died reads there what was reached, what was in
// flight, and what never began. A run has a file of its own, named by its jid, that only its owner can read. The
// package runs nothing. Salt has nothing of the kind.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/modules/states/run/low"
	"brine/wire/disk/recordlog"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// Folder is the directory of journals below the cache of a minion.
const Folder = "state_runs"

// most is how many journals of runs are kept that were interrupted.
const most = 20

// flushEvery is how long a record waits at most until it is on the disk itself. The death of the process loses none.
const flushEvery = time.Second

// Journal is the journal of one run. Any number of goroutines may use it.
type Journal struct {
	mu      sync.Mutex
	log     *recordlog.Log
	path    string
	flushed time.Time
	flushes sync.WaitGroup
}

// path is the file of a run.
func pathOf(dir, jid string) string {
	name := url.PathEscape(jid)
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	return filepath.Join(dir, Folder, name)
}

// Begin makes the journal of a run, in the place of an earlier one of its jid. job is what the run was asked for: fun,
// arg, kwarg; Past.Job has it again.
func Begin(dir, jid string, job *payload.Map, chunks []*payload.Map) (*Journal, error) {
	path := pathOf(dir, jid)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	prune(filepath.Dir(path))
	log, err := recordlog.Create(path, recordlog.Options{Lock: true})
	if err != nil {
		return nil, err
	}
	j := &Journal{log: log, path: path, flushed: time.Now()}
	all := make([]any, len(chunks))
	for i, c := range chunks {
		all[i] = payload.M("tag", low.Tag(c), "__id__", c.Value("__id__"), "name", c.Value("name"), "__sls__",
			c.Value("__sls__"))
	}
	if err := j.write(payload.M("jid", jid, "job", job, "chunks", all)); err != nil {
		return nil, errors.Join(err, j.Remove())
	}
	return j, nil
}

// prune removes the oldest journals where there are too many. The journal of a run that goes on is locked and stays.
func prune(dir string) {
	found, err := os.ReadDir(dir)
	if err != nil || len(found) < most {
		return
	}
	var over []string
	for _, entry := range found {
		if path := filepath.Join(dir, entry.Name()); !inUse(path) {
			over = append(over, path)
		}
	}
	for _, path := range over[:max(0, len(over)-most+1)] {
		_ = os.Remove(path) // one that cannot be removed is tried again by the next run
	}
}

// inUse tells whether a run has a journal open, here or in another process.
func inUse(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// Started notes that a chunk was begun. It must have returned before the chunk is called.
func (j *Journal) Started(tag string) error { return j.write(payload.M("started", tag)) }

// Ended notes the return of a chunk.
func (j *Journal) Ended(tag string, ret *payload.Map) error {
	return j.write(payload.M("ended", tag, "ret", ret))
}

// Finished notes that the run came to its end.
func (j *Journal) Finished() error { return j.write(payload.M("finished", true)) }

func (j *Journal) write(record *payload.Map) error {
	body, err := payload.MarshalBin(record)
	if err != nil {
		return fmt.Errorf("pack a record of the journal %s: %w", j.path, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.log.Append(false, func(dst []byte) []byte { return append(dst, body...) }); err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, err)
	}
	if time.Since(j.flushed) > flushEvery {
		j.flushed = time.Now()
		j.flushes.Go(func() { _ = j.log.Flush() }) // what the disk refuses, the next Append tells
	}
	return nil
}

// Close closes the file, which stays.
func (j *Journal) Close() error {
	j.flushes.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log.Close()
}

// Remove closes the file and removes it.
func (j *Journal) Remove() error {
	return errors.Join(j.Close(), os.Remove(j.path))
}

// Remove removes the journal of a run, if there is one.
func Remove(dir, jid string) error {
	if err := os.Remove(pathOf(dir, jid)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Past is what the journal of a run tells.
type Past struct {
	JID      string
	Job      *payload.Map
	Finished bool
	Results  *payload.Map // returns by tag, in the order in which they came
	chunks   []any
	started  []string
}

// Read reads the journal of a run. A record that is damaged is left out, and those behind it are read. Error:
// fs.ErrNotExist when there is no journal.
func Read(dir, jid string) (*Past, error) {
	file, err := os.Open(pathOf(dir, jid))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &Past{JID: jid, Results: payload.NewMap(0)}
	_, err = recordlog.Scan(file, func(_ int64, body []byte) error {
		record, err := payload.UnmarshalBinMap(slices.Clone(body))
		if err == nil {
			p.take(record)
		}
		return err
	}, nil)
	if err == nil && p.Job == nil {
		err = fmt.Errorf("the journal of the run %s does not tell what was to be done", jid)
	}
	return p, err
}

// take takes one record.
func (p *Past) take(record *payload.Map) {
	switch {
	case record.Has("job"):
		p.Job, p.chunks = record.Map("job"), record.List("chunks")
	case record.Has("started"):
		p.started = append(p.started, record.Str("started"))
	case record.Has("ended"):
		p.Results.Set(record.Str("ended"), record.Map("ret"))
	case record.Has("finished"):
		p.Finished = true
	}
}

// Answer are the returns of a run that was interrupted: those that were reached, a failure for each chunk that was in
// flight, and one for each that never began. why says what ended the run.
func (p *Past) Answer(why string) *payload.Map {
	out := payload.NewMap(len(p.chunks))
	number := int64(0)
	for _, ret := range p.Results.All() {
		if n, ok := ret.(*payload.Map).Int("__run_num__"); ok {
			number = max(number, n+1)
		}
	}
	for _, v := range p.chunks {
		chunk, _ := v.(*payload.Map)
		tag := chunk.Str("tag")
		if ret, ok := p.Results.Get(tag); ok {
			out.Set(tag, ret)
			continue
		}
		ret := payload.M("name", chunk.Value("name"), "changes", payload.NewMap(0), "result", false)
		if slices.Contains(p.started, tag) {
			ret.Set("comment", "The run was interrupted while this state was running; it may have done a part of its "+
				"work. "+why)
		} else {
			ret.Set("comment", "This state was not run: the run was interrupted before it. "+why)
			ret.Set("__state_ran__", false)
		}
		out.Set(tag, ret.Set("__sls__", chunk.Value("__sls__")).Set("__run_num__", number).Set("__id__",
			chunk.Value("__id__")))
		number++
	}
	for tag, ret := range p.Results.All() { // of listeners
		out.Set(tag, ret)
	}
	return out
}

// Left says how far the run came: how many chunks have a return, of how many, and which were in flight.
func (p *Past) Left() (done, all int, inFlight []string) {
	for _, tag := range p.started {
		if !p.Results.Has(tag) && !slices.Contains(inFlight, tag) {
			inFlight = append(inFlight, tag)
		}
	}
	return p.Results.Len(), len(p.chunks), inFlight
}
