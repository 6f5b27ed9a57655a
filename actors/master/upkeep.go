package master

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/host/steady"
	"brine/modules/host/wholefile"
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
	began   time.Time       // of this process
	clock   steady.Watch
}

// maintenanceOptions puts together what Maintenance does on this master.
func (c *core) maintenanceOptions(past *remembered) maintenanceOptions {
	cfg := c.cfg
	sessions, service := filepath.Join(cfg.CacheDir, "sessions"), c.rules.Load().eauth
	o := maintenanceOptions{
		loop: cfg.LoopInterval, session: cfg.PublishSession, past: past,
		takeDrop: c.takeDrop, rotate: c.auth.Rotate, revoke: c.lost,
		changed: func() (time.Time, time.Time) {
			return changedAt(c.keys.Folder(keys.Accepted)), changedAt(sessions)
		},
		accepted: func() ([]string, error) { return c.keys.IDs(keys.Accepted) },
		sessions: func() ([]string, error) { return names(sessions) },
		foreign:  c.auth.EndForeign,
		first:    c.listWeakKeys,
		alive:    func() error { return touch(filepath.Join(cfg.CacheDir, healthDir, healthAlive)) },
		jobs:     func(now time.Time) { c.jobs.writer.Send(&CleanJobs{Now: now}) },
		facts:    func() { c.jobs.writer.Send(&SaveFacts{}) },
		tasks: []func(time.Time) error{
			func(time.Time) error {
				if !past.clock.Calm() {
					return nil
				}
				_, err := service.CleanTokens()
				return err
			},
			func(now time.Time) error {
				if !past.clock.Calm() {
					return nil
				}
				return removeOlder(filepath.Join(cfg.CacheDir, peerDir), now.Add(-cfg.KeepJobsSeconds), cfg.KeepJobsSeconds)
			},
			func(time.Time) error { return c.checkOpenFiles() },
		},
		fire: c.events.fire, log: c.log,
	}
	if cfg.KeyCache == "sched" {
		o.tasks = append(o.tasks, func(time.Time) error { return c.writeKeyCache() })
	}
	if cfg.PresenceEvents {
		o.tasks = append(o.tasks, func(time.Time) error { return c.firePresence(past) })
	}
	if cfg.PingOnRotate {
		o.ping = c.pingAll
	}
	return o
}

// exchanged is told when another key than before is accepted for a minion. The one before is not to read on.
func (c *core) exchanged(id string) {
	c.log.Warn("another key is accepted for a minion: the session of the one before is ended", "minion", id)
	c.attendance.relink(id)
	if c.cfg.RotateAESKey && !c.rotate.Swap(true) {
		if m, ok := c.tree.Load().Lookup(nameMaintenance); ok {
			m.Send(&CheckKeys{})
		}
	}
}

// lost ends the session of an id that has no accepted key any more.
func (c *core) lost(id string) error {
	c.rotate.Store(c.cfg.RotateAESKey)
	c.attendance.relink(id)
	return c.auth.Revoke(id)
}

// revokeKey deletes the key of a minion that asks for it.
func (c *core) revokeKey(id string, preserve bool) error {
	m := c.functions.manager(preserve)
	sel, err := m.MatchList([]string{id})
	if err != nil {
		return err
	}
	done, err := m.Delete(sel)
	for _, e := range done.Events {
		c.events.fire(event.TagKey, e.Data())
	}
	c.attendance.relink(id)
	return errors.Join(err, c.auth.Revoke(id))
}

// takeDrop looks for the file by which salt-key asks for a new key.
func (c *core) takeDrop() (bool, error) {
	asked, bad, err := keys.TakeDrop(c.cfg.CacheDir, c.cfg.ID)
	if bad {
		c.log.Log(context.Background(), levelTrace, "Found dropfile with incorrect permissions, ignoring...")
	}
	return c.rotate.Swap(false) || asked, err
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

// keyCacheFile lists the accepted ids for Salt's tools (key_cache: sched).
const keyCacheFile = ".key_cache"

func (c *core) writeKeyCache() error {
	ids, err := c.keys.IDs(keys.Accepted)
	if err != nil {
		return err
	}
	packed, err := payload.MarshalBin(payload.AnyList(ids))
	if err != nil {
		return err
	}
	path := filepath.Join(c.keys.Folder(keys.Accepted), keyCacheFile)
	if err := wholefile.Write(path, packed, wholefile.Options{}); err != nil {
		return fmt.Errorf("key cache: %w", err)
	}
	return nil
}

// firePresence tells who is connected (presence_events).
func (c *core) firePresence(past *remembered) error {
	connected, err := c.attendance.Connected()
	if err != nil {
		return err
	}
	now := make(map[string]bool, len(connected))
	for id := range connected {
		now[id] = true
	}
	if come, gone := without(now, past.present), without(past.present, now); len(come)+len(gone) > 0 {
		c.events.fire(event.TagPresenceChange, payload.M("new", come, "lost", gone))
	}
	c.events.fire(event.TagPresent, payload.M("present", without(now, nil)))
	past.present = now
	return nil
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
func (c *core) checkOpenFiles() error {
	ids, err := c.keys.IDs(keys.Accepted)
	if err != nil {
		return err
	}
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	if level, text := openFilesText(uint64(len(ids)), lim.Cur, lim.Max, c.cfg.MaxOpenFiles); text != "" {
		c.log.Log(context.Background(), level, text)
	}
	return nil
}

// pingAll makes every minion look at the new shared key at once (ping_on_rotate).
func (c *core) pingAll() {
	tgt, tgtType := any("*"), "glob"
	if c.cfg.MinionDataCache {
		connected, err := c.attendance.Connected()
		if err != nil {
			c.log.Error("minions cannot be pinged after the rotation", "err", err)
			return
		}
		tgt, tgtType = payload.AnyList(slices.Sorted(maps.Keys(connected))), "list"
	}
	who, _ := c.targets.expand(context.Background(), tgt, tgtType, defaultDelimiter) // which is logged
	load := payload.M("fun", "test.ping", "arg", []any{}, "tgt", tgt, "tgt_type", tgtType, "ret", "",
		"jid", c.jobs.ids.Next(time.Now()), "user", c.cfg.User)
	extra := payload.NewMap(0)
	c.publications.begin(load, extra, c.publications.publication(load, extra), who, origin{})
	c.log.Debug(fmt.Sprintf("pinged %d minions after the rotation", len(who.Minions)))
}
