package master

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
	"sync/atomic"
	"syscall"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/host/steady"
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

// upkeepOptions are what the configuration says of it.
type upkeepOptions struct {
	id, user  string        // of this master
	cacheDir  string        // has sessions, health file, and the files of what minions published
	loop      time.Duration // loop_interval
	session   time.Duration // publish_session: life of the shared key; 0: for ever
	keepJobs  time.Duration // keep_jobs_seconds; 0: for ever
	openFiles uint64        // max_open_files
	keyCache  bool          // key_cache: sched
	presence  bool          // presence_events
	ping      bool          // ping_on_rotate
	dataCache bool          // minion_data_cache: such a ping asks only who is connected
}

// upkeep is what Maintenance does on this master.
type upkeep struct {
	opt          upkeepOptions
	auth         *auth.Master
	keys         *keys.Store
	rules        *atomic.Pointer[rules]
	signIns      *signIns
	attendance   *attendance
	targets      *targets
	jobs         *jobs
	data         *datacache.Sweep // nil with preserve_minion_cache
	publications *publications
	events       *events
	signs        *signs
	log          *slog.Logger
}

// options puts together what Maintenance does on this master.
func (u *upkeep) options(past *remembered) maintenanceOptions {
	opt, sessions := u.opt, filepath.Join(u.opt.cacheDir, "sessions")
	o := maintenanceOptions{
		loop: opt.loop, session: opt.session, past: past,
		takeDrop: u.takeDrop, rotate: u.auth.Rotate, revoke: u.signIns.lost,
		changed: func() (time.Time, time.Time) {
			return changedAt(u.keys.Folder(keys.Accepted)), changedAt(sessions)
		},
		accepted: func() ([]string, error) { return u.keys.IDs(keys.Accepted) },
		sessions: func() ([]string, error) { return names(sessions) },
		foreign:  u.auth.EndForeign,
		first:    u.signIns.listWeakKeys,
		alive:    u.signs.keep,
		jobs:     func(now time.Time) { u.jobs.writer.Send(&CleanJobs{Now: now}) },
		facts:    func() { u.jobs.writer.Send(&SaveFacts{}) },
		tasks: []func(time.Time) error{
			func(time.Time) error { // what has expired stays while the clock may be wrong
				_, err := u.rules.Load().eauth.CleanTokens()
				return err
			},
			func(now time.Time) error {
				if !past.clock.Calm() {
					return nil
				}
				return removeOlder(filepath.Join(opt.cacheDir, peerDir), now.Add(-opt.keepJobs), opt.keepJobs)
			},
			func(time.Time) error { return u.checkOpenFiles() },
		},
		fire: u.events.fire, log: u.log,
	}
	if opt.keyCache {
		o.tasks = append(o.tasks, func(time.Time) error { return u.writeKeyCache() })
	}
	if u.data != nil {
		o.tasks = append(o.tasks, func(time.Time) error { return u.sweepData() })
	}
	if opt.presence {
		o.tasks = append(o.tasks, func(now time.Time) error { return u.firePresence(past, now) })
	}
	if opt.ping {
		o.ping = u.pingAll
	}
	return o
}

// takeDrop looks for the file by which salt-key asks for a new key.
func (u *upkeep) takeDrop() (bool, error) {
	asked, bad, err := keys.TakeDrop(u.opt.cacheDir, u.opt.id)
	if bad {
		u.log.Log(context.Background(), levelTrace, "Found dropfile with incorrect permissions, ignoring...")
	}
	return u.signIns.anew.Swap(false) || asked, err
}

// changedAt is the latest change of a folder; the zero time when it is not there.
func changedAt(dir string) time.Time {
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
func (u *upkeep) sweepData() error {
	gone, err := u.data.Look()
	for _, id := range gone {
		u.log.Info("cached data of a minion without a key is removed", "minion", id)
	}
	return err
}

// keyCacheFile lists the accepted ids for Salt's tools (key_cache: sched).
const keyCacheFile = ".key_cache"

func (u *upkeep) writeKeyCache() error {
	ids, err := u.keys.IDs(keys.Accepted)
	if err != nil {
		return err
	}
	packed, err := payload.MarshalBin(payload.AnyList(ids))
	if err != nil {
		return err
	}
	path := filepath.Join(u.keys.Folder(keys.Accepted), keyCacheFile)
	if err := wholefile.Write(path, packed, wholefile.Options{}); err != nil {
		return fmt.Errorf("key cache: %w", err)
	}
	return nil
}

// firePresence tells who is connected (presence_events).
func (u *upkeep) firePresence(past *remembered, at time.Time) error {
	connected, err := u.attendance.Connected()
	if err != nil {
		return err
	}
	now := make(map[string]bool, len(connected))
	for id := range connected {
		now[id] = true
	}
	if past.present == nil {
		if past.present, err = readPresent(u.opt.cacheDir, at); err != nil {
			u.log.Warn("presence events begin anew", "err", err)
		}
	}
	come, gone, all := without(now, past.present), without(past.present, now), without(now, nil)
	if len(come)+len(gone) > 0 {
		u.events.fire(event.TagPresenceChange, event.PresenceChange(come, gone))
	}
	u.events.fire(event.TagPresent, event.Presence(all))
	past.present = now
	if len(come)+len(gone) == 0 && at.Sub(past.kept) < presentAnew && !at.Before(past.kept) {
		return nil
	}
	past.kept = at
	return writePresent(u.opt.cacheDir, all, at)
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
func (u *upkeep) checkOpenFiles() error {
	ids, err := u.keys.IDs(keys.Accepted)
	if err != nil {
		return err
	}
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	if level, text := openFilesText(uint64(len(ids)), lim.Cur, lim.Max, u.opt.openFiles); text != "" {
		u.log.Log(context.Background(), level, text)
	}
	return nil
}

// pingAll makes every minion look at the new shared key at once (ping_on_rotate).
func (u *upkeep) pingAll() {
	tgt, tgtType := any("*"), "glob"
	if u.opt.dataCache {
		connected, err := u.attendance.Connected()
		if err != nil {
			u.log.Error("minions cannot be pinged after the rotation", "err", err)
			return
		}
		if len(connected) == 0 {
			return // Salt's client publishes nothing either
		}
		tgt, tgtType = payload.AnyList(slices.Sorted(maps.Keys(connected))), "list"
	}
	who, _ := u.targets.expand(context.Background(), tgt, tgtType, defaultDelimiter) // which is logged
	ask := payload.NewPublishRequest(payload.M("fun", "test.ping", "arg", []any{}, "tgt", tgt, "tgt_type", tgtType,
		"ret", "", "jid", u.jobs.ids.Next(time.Now()), "user", u.opt.user))
	extra := ask.Extras()
	u.publications.begin(ask, extra, u.publications.publication(ask, extra), who, origin{})
	u.log.Debug(fmt.Sprintf("pinged %d minions after the rotation", len(who.Minions)))
}
