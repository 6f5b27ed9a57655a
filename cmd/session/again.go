package session

import (
	"log/slog"
	"os"
	"path/filepath"

	"brine/cmd/saltlog"
	"brine/config"
	"brine/wire/payload"
)

// loaded is what a configuration was loaded with.
type loaded struct {
	role Role
	dir  string
	over *payload.Map // options of the command line
	// fromFile says that there was a main file; without one a daemon works with defaults.
	fromFile bool
}

// LoadAgain loads the configuration of a daemon as its files are now, with the same command line over it. Nothing of
// the session changes; the answer is one that has a configuration and nothing else. A file that is missing or broken is
// an error.
func (s *Session) LoadAgain() (*Session, error) {
	_, err := os.Stat(s.Common.ConfFile)
	load := config.Loader{Overrides: s.loaded.over, StrictIncludes: true, Again: s.loaded.fromFile || err == nil}
	fresh := &Session{Call: s.Call, Parser: s.Parser, Opt: s.Opt, Log: s.Log}
	if s.loaded.role == RoleMinion {
		load.Path = filepath.Join(s.loaded.dir, "minion")
		if fresh.Minion, err = load.Minion(); err != nil {
			return nil, err
		}
		fresh.Common = &fresh.Minion.Common
		return fresh, nil
	}
	load.Path = filepath.Join(s.loaded.dir, "master")
	if s.loaded.role == RoleClient { // with the personal file, as at the start
		if fresh.Client, err = load.Client(); err == nil {
			fresh.Master = &fresh.Client.Master
		}
	} else {
		fresh.Master, err = load.Master()
	}
	if err != nil {
		return nil, err
	}
	fresh.Common = &fresh.Master.Common
	return fresh, nil
}

// levels are those of console and log file. They may change while others log.
type levels struct{ console, file level }

type level struct{ slog.LevelVar }

// at is the level with a first value.
func (l *level) at(first slog.Level) *slog.LevelVar {
	l.Set(first)
	return &l.LevelVar
}

// FollowLevels logs as much as another configuration says. A log file that was not opened stays closed.
func (s *Session) FollowLevels(c *config.Common) {
	console, ok := saltlog.Level(c.LogLevel)
	if !ok {
		console = slog.LevelWarn
	}
	file, ok := saltlog.Level(c.LogLevelLogfile)
	if !ok {
		file = console
	}
	s.levels.console.Set(console)
	s.levels.file.Set(file)
}
