package master

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/wire/payload"
)

// maintenanceOptionsOf puts together what Maintenance does on this master.
func (m *Master) maintenanceOptionsOf(opt Options, last *time.Time) maintenanceOptions {
	c, cfg := m.core, opt.Config
	o := maintenanceOptions{
		loop: cfg.LoopInterval, session: cfg.PublishSession, last: last,
		takeDrop: opt.Tools.TakeDrop, rotate: opt.Auth.Rotate,
		alive: func() error { return touch(filepath.Join(cfg.CacheDir, "health", "alive")) },
		jobs:  func(now time.Time) { c.jobs.Send(&CleanJobs{Now: now}) },
		clean: []func(time.Time) error{
			func(time.Time) error { _, err := opt.Eauth.CleanTokens(); return err },
			func(now time.Time) error {
				return removeOlder(filepath.Join(cfg.CacheDir, peerDir), now.Add(-cfg.KeepJobsSeconds), cfg.KeepJobsSeconds)
			},
		},
		fire: c.fire, log: opt.Logger,
	}
	if cfg.PingOnRotate {
		o.ping = func() { c.pingAll() }
	}
	return o
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

// pingAll makes every accepted minion look at the new shared key at once (ping_on_rotate).
func (c *core) pingAll() {
	who := c.expand("*", "glob", defaultDelimiter)
	load := payload.M("fun", "test.ping", "arg", []any{}, "tgt", anyList(who.Minions), "tgt_type", "list", "ret", "",
		"jid", c.jids.next(time.Now()), "user", c.cfg.User)
	c.announce(load, payload.NewMap(0), who)
	c.send(publication(c, load, payload.NewMap(0)), who)
	c.log.Debug(fmt.Sprintf("pinged %d minions after the rotation", len(who.Minions)))
}
