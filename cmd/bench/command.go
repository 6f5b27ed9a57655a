package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/tool"
)

// Command measures brine and real Salt side by side (brine bench).
func Command(c *tool.Call) error {
	p := options.NewOwnParser(c, "Measures brine, and beside it real Salt 3008 and 3006, on this machine.")
	p.Add(
		optparse.Option{Flags: []string{"--rows"}, Help: "Only these rows: their keys, comma separated, as the " +
			"table shows them."},
		optparse.Option{Flags: []string{"--no-salt"}, Dest: "no_salt", Kind: optparse.Flag,
			Help: "Measure brine alone."},
		optparse.Option{Flags: []string{"--quick"}, Kind: optparse.Flag, Help: "One round with fewer repetitions."},
		optparse.Option{Flags: []string{"--rounds"}, Kind: optparse.Int, Default: 0,
			Help: "How often everybody has a turn. Default: 3, or 1 with --quick."},
		optparse.Option{Flags: []string{"--minions"}, Kind: optparse.Int, Default: 1000,
			Help: "Size of the emulated fleet. Default: %default."},
		optparse.Option{Flags: []string{"--json"}, Kind: optparse.Flag, Help: "Print JSON in place of the table."},
		optparse.Option{Flags: []string{"--version"}, Kind: optparse.Int, Default: 0,
			Help: "Protocol version of the emulated fleet: 2, or 3. Default: the newest."},
		optparse.Option{Flags: []string{"--dir"}, Default: "/tmp", Help: "Where the scratch directory is made; a " +
			"short path. Default: %default."},
		optparse.Option{Flags: []string{"--profile"}, Metavar: "DIR", Help: "Let brine's daemons write CPU profiles " +
			"of the loads into DIR."},
		optparse.Option{Flags: []string{"--salt-cache"}, Dest: "salt_cache", Metavar: "DIR",
			Help: "Where .ci/salt-peers has put the releases. " +
				"Default: $BRINE_SALT_CACHE, or brine/salt in the user's cache directory."},
	)
	v, err := p.Parse(c.Args)
	if err != nil {
		return err
	}
	opt := Options{NoSalt: v.Bool("no_salt"), Quick: v.Bool("quick"), Rounds: v.Int("rounds"),
		Minions: v.Int("minions"), Version: v.Int("version"), Dir: v.Str("dir"),
		Cache: v.Str("salt_cache"), Profile: v.Str("profile"), Progress: c.Stderr}
	if rows := v.Str("rows"); rows != "" {
		opt.Rows = strings.Split(rows, ",")
	}
	if err := benchPaths(&opt); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	report, err := Run(ctx, opt)
	if report == nil {
		return err
	}
	if v.Bool("json") {
		return errors.Join(report.WriteJSON(c.Stdout), err)
	}
	return errors.Join(report.WriteTable(c.Stdout), err)
}

// benchPaths finds this binary and the cache of releases.
func benchPaths(opt *Options) (err error) {
	if opt.Self, err = os.Executable(); err == nil {
		opt.Self, err = filepath.EvalSymlinks(opt.Self)
	}
	if err != nil {
		return fmt.Errorf("find this file: %w", err)
	}
	if opt.Profile != "" {
		if opt.Profile, err = filepath.Abs(opt.Profile); err == nil {
			err = os.MkdirAll(opt.Profile, 0o755)
		}
		if err != nil {
			return fmt.Errorf("directory for profiles: %w", err)
		}
	}
	if opt.Cache != "" {
		return nil
	}
	if opt.Cache = os.Getenv("BRINE_SALT_CACHE"); opt.Cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find the cache of Salt releases: %w", err)
		}
		opt.Cache = filepath.Join(base, "brine", "salt")
	}
	return nil
}
