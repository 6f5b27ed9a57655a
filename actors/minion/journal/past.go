package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/wire/auth"
	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// Past remembers on disk which jobs were taken, so that a publication that somebody has recorded is not run by the
// next process either. Beside each jid stands how far the master had counted under its shared key: what it seals later
// is new, whatever its jid. Jids are kept for minion_jid_queue_age, by the time of the master as far as that is known:
// a clock of this machine that is wrong for a while makes it forget nothing. The file is appended to before a job
// begins; it is safe against the death of the process. The Dispatcher is the only one to touch it.
type Past struct {
	path    string // "": nothing is kept on disk, as with Salt
	keep    time.Duration
	sync    bool      // wait for the disk itself (journal_fsync)
	jobs    []pastJob // oldest first
	known   map[string]bool
	serials []pastSerial // of the last shared keys, the last one last
	newest  int64        // the latest jid that is a time stamp, in microseconds since 1970
	calm    func() bool  // whether the clock may be believed; nil: always
	format  recordlog.Format
	size    int64 // of the file as it should be; -1: it is to be written anew
	rewrite int64 // the size from which on it is written anew
}

// pastJob is a jid, and when it was taken.
type pastJob struct {
	jid string
	at  int64 // microseconds since 1970
}

// pastSerial is the last number of a job that was taken from a master.
type pastSerial struct {
	key    string
	serial int64
}

const (
	maxPastJobs    = 1 << 15 // the oldest is forgotten then
	maxPastSerials = 32      // shared keys: a master makes one a day
	minRewrite     = 1 << 16 // bytes of a file that is left as it is
)

// pastKind is the kind of the records in the file. They are those of the journal: the key is the jid, or "" for a
// number alone; the link is the digest of the shared key, the body the number (8 bytes).
const pastKind Kind = 's'

// OpenPast reads what the processes before this one have taken. With keep 0 nothing is kept on disk; sync lets a
// write wait for the disk itself (journal_fsync). The error tells of a file that cannot be read; it
// is begun anew then.
func OpenPast(path string, keep time.Duration, sync bool, now time.Time, calm func() bool) (*Past, error) {
	p := &Past{path: path, keep: keep, sync: sync, calm: calm, known: map[string]bool{}, size: -1}
	if keep == 0 {
		p.path = ""
	}
	if p.path == "" {
		return p, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("jobs taken before: %w", err)
	}
	found, err := recordlog.Scan(f, oldForm, p.read)
	if err = errors.Join(err, f.Close()); err != nil {
		return p, fmt.Errorf("jobs taken before: %w", err)
	}
	if damage := found.Damage(); damage != nil { // the next job writes it anew, with what is whole
		kept, err := setaside.Move(path, now)
		return p, errors.Join(fmt.Errorf("jobs taken before: %s: %w; set aside as %s, %d jobs are known", path, damage,
			kept, len(p.jobs)), err)
	}
	if found.Format.Headed() {
		p.format, p.size = found.Format, found.End
	}
	p.forget(now)
	return p, nil
}

// read takes one record.
func (p *Past) read(_ int64, body []byte) error {
	e, err := parse(body)
	if err != nil {
		return err
	}
	if e.kind != pastKind || e.body != 8 {
		return errDamaged
	}
	p.note(e.Key, auth.Mark{Key: e.Link, Serial: int64(binary.BigEndian.Uint64(body[len(body)-8:]))}, e.at)
	return nil
}

// note remembers a job in memory.
func (p *Past) note(jid string, mark auth.Mark, at time.Time) {
	if mark.Serial > 0 {
		last := max(mark.Serial, p.serial(mark.Key))
		p.serials = slices.DeleteFunc(p.serials, func(s pastSerial) bool { return s.key == mark.Key })
		p.serials = append(p.serials, pastSerial{mark.Key, last})
		p.serials = p.serials[max(0, len(p.serials)-maxPastSerials):]
	}
	if jid == "" || p.known[jid] {
		return
	}
	if len(p.jobs) >= maxPastJobs {
		delete(p.known, p.jobs[0].jid)
		p.jobs = p.jobs[1:]
	}
	p.known[jid] = true
	p.jobs = append(p.jobs, pastJob{jid, at.UnixMicro()})
	if t, ok := payload.JIDTime(jid); ok {
		p.newest = max(p.newest, t.UnixMicro())
	}
}

// serial is the last number that a job was taken with under a shared key.
func (p *Past) serial(key string) int64 {
	for _, s := range p.serials {
		if s.key == key {
			return s.serial
		}
	}
	return 0
}

// SerialNow is serial as it stands when this process begins; what comes later the sign-in counts itself. Any goroutine
// may call it.
func (p *Past) SerialNow() func(key string) int64 {
	serials := slices.Clone(p.serials)
	return func(key string) int64 {
		for _, s := range serials {
			if s.key == key {
				return s.serial
			}
		}
		return 0
	}
}

// horizon is the time before which jids are forgotten, and not taken any more. It goes by the earlier one of two
// clocks: that of this machine and, as its jids show it, the master's. Either alone may be wrong.
func (p *Past) horizon(now time.Time) int64 {
	return min(now.UnixMicro(), p.newest) - p.keep.Microseconds()
}

// Has tells whether a job was taken before. A name that is no time stamp may come back: then the number must show that
// the master means it.
func (p *Past) Has(jid string, mark auth.Mark) bool {
	_, stamp := payload.JIDTime(jid)
	return p.known[jid] && (stamp || mark.Serial == 0)
}

// Outdated tells whether a jid is so old that it would be forgotten if it had been taken. With a number of the master
// it is shown to be new: a batch may last for weeks, and all its jobs have the jid of the first.
func (p *Past) Outdated(jid string, mark auth.Mark, now time.Time) bool {
	t, ok := payload.JIDTime(jid)
	return ok && p.path != "" && mark.Serial == 0 && t.UnixMicro() < p.horizon(now)
}

// Take remembers a job, on disk before this returns. After an error it is remembered in memory, and the next call tries
// to write all.
func (p *Past) Take(jid string, mark auth.Mark, now time.Time) error {
	if p.path == "" {
		return nil
	}
	p.note(jid, mark, now)
	if p.size >= 0 && p.size >= p.rewrite && p.rewrite > 0 {
		p.forget(now)
		p.size = -1
	}
	err := errPast
	if p.size >= 0 {
		err = p.append(p.appendPast(nil, jid, mark, now))
	}
	if err != nil {
		err = p.writeAll()
	}
	if err != nil {
		p.size = -1
		return fmt.Errorf("jobs taken: %w", err)
	}
	return nil
}

// errPast means that the file is not as this process has left it: somebody has removed it.
var errPast = errors.New("not as it was")

func (p *Past) append(b []byte) error {
	f, err := os.OpenFile(p.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != p.size {
		err = errPast
	}
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil && p.sync {
		err = f.Sync()
	}
	p.size += int64(len(b))
	p.rewrite = max(p.rewrite, minRewrite)
	return errors.Join(err, f.Close())
}

// writeAll makes the file anew.
func (p *Past) writeAll() error {
	b, format := recordlog.Blank()
	p.format = format
	for _, s := range p.serials {
		b = p.appendPast(b, "", auth.Mark{Key: s.key, Serial: s.serial}, time.UnixMicro(0))
	}
	for _, j := range p.jobs {
		b = p.appendPast(b, j.jid, auth.Mark{}, time.UnixMicro(j.at))
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	if err := jobfiles.Write(p.path, b); err != nil {
		return err
	}
	p.size = int64(len(b))
	p.rewrite = max(2*p.size, minRewrite)
	if p.sync {
		return p.append(nil)
	}
	return nil
}

func (p *Past) appendPast(b []byte, jid string, mark auth.Mark, at time.Time) []byte {
	r := Record{Kind: pastKind, Key: jid, Link: mark.Key, Body: binary.BigEndian.AppendUint64(nil,
		uint64(mark.Serial))}
	return p.format.Append(b, func(dst []byte) []byte { return r.append(dst, at) })
}

// forget drops what is older than the horizon, unless the clock may be wrong: what would come again is refused for its
// age, or for its number.
func (p *Past) forget(now time.Time) {
	p.rewrite = max(2*p.size, minRewrite)
	if p.calm != nil && !p.calm() {
		return // the clocks of this machine and of the master may be wrong together
	}
	horizon := p.horizon(now)
	p.jobs = slices.DeleteFunc(p.jobs, func(j pastJob) bool {
		at := j.at
		if t, ok := payload.JIDTime(j.jid); ok {
			at = t.UnixMicro()
		}
		if at >= horizon {
			return false
		}
		delete(p.known, j.jid)
		return true
	})
}
