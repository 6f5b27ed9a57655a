package supervisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"brine/supervisor/stats"
	"brine/wire/disk/wholefile"
)

// Limits of the file. At deathLines lines it is rewritten with the last keepHistory deaths. At most the last deathBytes
// bytes are read.
const (
	deathLines  = 2 * keepHistory
	deathBytes  = 8 << 20
	flushWithin = time.Second
)

// deathFile keeps the last deaths on disk, one line of JSON each, the newest last. A goroutine writes it, which runs
// only while there are deaths to write: a disk that hangs delays no restart. Lines that cannot be read, such as a line
// torn by a power loss, are skipped.
type deathFile struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	pending []stats.Death
	idle    chan struct{} // closed when the writer has ended; nil if none runs

	// Only for the writer:
	kept   []stats.Death // the content of the file, the last keepHistory
	lines  int
	torn   bool // the file is longer than the part that was read, or does not end with a whole line
	failed bool // the last write failed: logged once, until a write succeeds
}

// load reads the file. It must be called once, before add.
func (f *deathFile) load() []stats.Death {
	raw, cut, err := readEnd(f.path, deathBytes)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("the deaths before this start cannot be read", "err", err)
		}
		return nil
	}
	f.torn = cut || len(raw) > 0 && raw[len(raw)-1] != '\n'
	for line := range bytes.Lines(raw) {
		f.lines++
		var d stats.Death
		if json.Unmarshal(line, &d) == nil && d.Path != "" {
			f.kept = pushBounded(f.kept, d, keepHistory)
		}
	}
	return append([]stats.Death(nil), f.kept...)
}

// readEnd reads the last most bytes of a file; cut tells whether the file is longer.
func readEnd(path string, most int64) (raw []byte, cut bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	if cut = info.Size() > most; cut {
		if _, err := file.Seek(-most, io.SeekEnd); err != nil {
			return nil, false, err
		}
	}
	raw, err = io.ReadAll(io.LimitReader(file, most))
	return raw, cut, err
}

func (f *deathFile) add(d stats.Death) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = pushBounded(f.pending, d, keepHistory)
	if f.idle == nil {
		f.idle = make(chan struct{})
		go f.write()
	}
}

// write writes the pending deaths until there are none, and ends.
func (f *deathFile) write() {
	for {
		f.mu.Lock()
		some := f.pending
		f.pending = nil
		if len(some) == 0 {
			close(f.idle)
			f.idle = nil
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		err := f.put(some)
		if err != nil && !f.failed {
			f.log.Warn("deaths cannot be kept for the next start", "err", err)
		}
		f.failed = err != nil
	}
}

// put appends deaths. It rewrites the file if it is damaged or too long, or if the last write failed.
func (f *deathFile) put(some []stats.Death) error {
	for _, d := range some {
		f.kept = pushBounded(f.kept, d, keepHistory)
	}
	if f.torn || f.failed || f.lines+len(some) > deathLines {
		return f.renew()
	}
	text, err := deathText(some)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.torn = true // until the write has succeeded
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	f.torn = false
	f.lines += len(some)
	return nil
}

// renew rewrites the file. The old file stays until the new one is complete.
func (f *deathFile) renew() error {
	text, err := deathText(f.kept)
	if err != nil {
		return err
	}
	if err := wholefile.Write(f.path, text, wholefile.Options{Sync: true}); err != nil {
		return err
	}
	f.lines, f.torn = len(f.kept), false
	return nil
}

func deathText(some []stats.Death) ([]byte, error) {
	var b bytes.Buffer
	for _, d := range some {
		line, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("death of %s: %w", d.Path, err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// flush waits for the writer, but not forever: the disk may hang.
func (f *deathFile) flush() {
	f.mu.Lock()
	idle := f.idle
	f.mu.Unlock()
	if idle == nil {
		return
	}
	limit := time.NewTimer(flushWithin)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
		f.log.Warn("the last deaths may not be kept for the next start: the disk does not answer")
	}
}
