// Package maintenance is the actor Maintenance, which does the regular work of a master: keys and sessions, old jobs
// and tokens, presence events, the files that show that the master serves. It owns those files. What it does to other
// parts stands in its options. Answers to Maintenance in salt/master.py.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/actors/master/jobs"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/host/steady"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/disk/wholefile"
	"brine/wire/event"
	"brine/wire/payload"
)

// levelTrace and levelCritical are Salt's levels beside those of slog.
const (
	levelTrace    = -8
	levelCritical = 12
)

// remembered is what Maintenance knows from one life to the next.
type remembered struct {
	rotated time.Time       // when the shared key was made
	present map[string]bool // who was connected; nil before the first look
	kept    time.Time       // when that was written down
	began   time.Time       // of this process
	clock   steady.Watch
}

// Options are what the configuration says of it.
type Options struct {
	ID, User  string        // of this master
	CacheDir  string        // has sessions and the health file
	Published string        // the folder with the files of what minions published
	Loop      time.Duration // loop_interval
	Session   time.Duration // publish_session: life of the shared key; 0: for ever
	KeepJobs  time.Duration // keep_jobs_seconds; 0: for ever
	OpenFiles uint64        // max_open_files
	KeyCache  bool          // key_cache: sched
	Presence  bool          // presence_events
	Ping      bool          // ping_on_rotate
	DataCache bool          // minion_data_cache: such a ping asks only who is connected
}

// Upkeep is what Maintenance does on this master.
type Upkeep struct {
	parts Parts
	opt   Options
	log   *slog.Logger
}

// Parts are the parts of the master that Maintenance looks after.
type Parts struct {
	Auth    *auth.Master
	Keys    *keys.Store
	SignIns signInKeeper
	// ids of minions that are connected, with addresses
	Connected func() (map[string]string, error)
	Fire      func(tag string, data *payload.Map)                       // puts an event on the bus
	Jobs      func(message any)                                         // sends to the JobStore
	Publish   func(fun string, args []any, tgt any, tgtType string) int // asks minions; how many are meant
	Tokens    func() error                                              // removes tokens that have expired
	Data      *datacache.Sweep                                          // nil with preserve_minion_cache
	Signs     *Signs
}

// signInKeeper is what comes of keys that go.
type signInKeeper interface {
	TakeAnew() bool                   // a new shared key is to be made
	Lost(id string) error             // ends the session of an id that has no accepted key any more
	ListWeakKeys(ctx context.Context) // says which accepted keys others can break
}

// New looks after parts.
func New(opt Options, parts Parts, log *slog.Logger) *Upkeep {
	return &Upkeep{parts: parts, opt: opt, log: log}
}

// Child is Maintenance as a child of the master, under the name by which others look it up.
func (u *Upkeep) Child(name string) supervisor.Spec {
	past := &remembered{rotated: time.Now(), began: time.Now()}
	return supervisor.Spec{Name: name, New: func() supervisor.Actor { return &maintenance{opt: u.options(past)} }}
}

// options puts together what Maintenance does on this master.
func (u *Upkeep) options(past *remembered) maintenanceOptions {
	opt, sessions := u.opt, filepath.Join(u.opt.CacheDir, "sessions")
	o := maintenanceOptions{
		loop: opt.Loop, session: opt.Session, past: past,
		takeDrop: u.takeDrop, rotate: u.parts.Auth.Rotate, revoke: u.parts.SignIns.Lost,
		changed: func() (time.Time, time.Time) {
			return ChangedAt(u.parts.Keys.Folder(keys.Accepted)), ChangedAt(sessions)
		},
		accepted: func() ([]string, error) { return u.parts.Keys.IDs(keys.Accepted) },
		sessions: func() ([]string, error) { return names(sessions) },
		foreign:  u.parts.Auth.EndForeign,
		first:    u.parts.SignIns.ListWeakKeys,
		alive:    u.parts.Signs.keep,
		jobs:     func(now time.Time) { u.parts.Jobs(&jobs.CleanJobs{Now: now}) },
		facts:    func() { u.parts.Jobs(&jobs.SaveFacts{}) },
		tasks: []func(time.Time) error{
			func(time.Time) error { return u.parts.Tokens() }, // what has expired stays while the clock may be wrong
			func(now time.Time) error {
				if !past.clock.Calm() {
					return nil
				}
				return removeOlder(opt.Published, now.Add(-opt.KeepJobs), opt.KeepJobs)
			},
			func(time.Time) error { return u.checkOpenFiles() },
		},
		fire: u.parts.Fire, log: u.log,
	}
	if opt.KeyCache {
		o.tasks = append(o.tasks, func(time.Time) error { return u.writeKeyCache() })
	}
	if u.parts.Data != nil {
		o.tasks = append(o.tasks, func(time.Time) error { return u.sweepData() })
	}
	if opt.Presence {
		o.tasks = append(o.tasks, func(now time.Time) error { return u.firePresence(past, now) })
	}
	if opt.Ping {
		o.ping = u.pingAll
	}
	return o
}

// takeDrop looks for the file by which salt-key asks for a new key.
func (u *Upkeep) takeDrop() (bool, error) {
	asked, bad, err := keys.TakeDrop(u.opt.CacheDir, u.opt.ID)
	if bad {
		u.log.Log(context.Background(), levelTrace, "Found dropfile with incorrect permissions, ignoring...")
	}
	return u.parts.SignIns.TakeAnew() || asked, err
}

// ChangedAt is the latest change of a folder; the zero time when it is not there.
func ChangedAt(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// names lists the files of a directory, those left out that begin with a dot; none when there is no such directory.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// touch makes a file or sets its time to now.
func touch(path string) error {
	now := time.Now()
	err := os.Chtimes(path, now, now)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, nil, 0o644)
		}
	}
	return err
}

// removeOlder removes the files of a directory that are older than a moment; keep 0 keeps all.
func removeOlder(dir string, than time.Time, keep time.Duration) error {
	if keep <= 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, infoErr := e.Info()
		if infoErr != nil || !info.ModTime().Before(than) {
			continue // gone meanwhile, or young enough
		}
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	return err
}

// sweepData forgets minions that a tool of Salt has deleted and forgotten by halves.
func (u *Upkeep) sweepData() error {
	gone, err := u.parts.Data.Look()
	for _, id := range gone {
		u.log.Info("cached data of a minion without a key is removed", "minion", id)
	}
	return err
}

// keyCacheFile lists the accepted ids for Salt's tools (key_cache: sched).
const keyCacheFile = ".key_cache"

func (u *Upkeep) writeKeyCache() error {
	ids, err := u.parts.Keys.IDs(keys.Accepted)
	if err != nil {
		return err
	}
	packed, err := payload.MarshalBin(payload.AnyList(ids))
	if err != nil {
		return err
	}
	path := filepath.Join(u.parts.Keys.Folder(keys.Accepted), keyCacheFile)
	if err := wholefile.Write(path, packed, wholefile.Options{}); err != nil {
		return fmt.Errorf("key cache: %w", err)
	}
	return nil
}

// firePresence tells who is connected (presence_events).
func (u *Upkeep) firePresence(past *remembered, at time.Time) error {
	connected, err := u.parts.Connected()
	if err != nil {
		return err
	}
	now := make(map[string]bool, len(connected))
	for id := range connected {
		now[id] = true
	}
	if past.present == nil {
		if past.present, err = readPresent(u.opt.CacheDir, at); err != nil {
			u.log.Warn("presence events begin anew", "err", err)
		}
	}
	come, gone, all := without(now, past.present), without(past.present, now), without(now, nil)
	if len(come)+len(gone) > 0 {
		u.parts.Fire(event.TagPresenceChange, event.PresenceChange(come, gone))
	}
	u.parts.Fire(event.TagPresent, event.Presence(all))
	past.present = now
	if len(come)+len(gone) == 0 && at.Sub(past.kept) < presentAnew && !at.Before(past.kept) {
		return nil
	}
	past.kept = at
	return writePresent(u.opt.CacheDir, all, at)
}

// without lists the ids of a that are not in b, in order.
func without(a, b map[string]bool) []any {
	out := []any{}
	for _, id := range slices.Sorted(maps.Keys(a)) {
		if !b[id] {
			out = append(out, id)
		}
	}
	return out
}

// checkOpenFiles warns when the accepted minions could need more connections than this process may have.
func (u *Upkeep) checkOpenFiles() error {
	ids, err := u.parts.Keys.IDs(keys.Accepted)
	if err != nil {
		return err
	}
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	if level, text := openFilesText(uint64(len(ids)), lim.Cur, lim.Max, u.opt.OpenFiles); text != "" {
		u.log.Log(context.Background(), level, text)
	}
	return nil
}

// pingAll makes every minion look at the new shared key at once (ping_on_rotate).
func (u *Upkeep) pingAll() {
	tgt, tgtType := any("*"), "glob"
	if u.opt.DataCache {
		connected, err := u.parts.Connected()
		if err != nil {
			u.log.Error("minions cannot be pinged after the rotation", "err", err)
			return
		}
		if len(connected) == 0 {
			return // Salt's client publishes nothing either
		}
		tgt, tgtType = payload.AnyList(slices.Sorted(maps.Keys(connected))), "list"
	}
	n := u.parts.Publish("test.ping", []any{}, tgt, tgtType)
	u.log.Debug(fmt.Sprintf("pinged %d minions after the rotation", n))
}
