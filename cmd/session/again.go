package session

import (
	"log/slog"
	"os"
	"path/filepath"

	"brine/cmd/saltlog"
	"brine/config"
	"brine/wire/payload"
)

// loaded holds the arguments with which a configuration was loaded.
type loaded struct {
	role Role
	dir  string
	over *payload.Map // options of the command line
	// fromFile means that the main file existed; without it a daemon works with defaults.
	fromFile bool
}

// LoadAgain loads a daemon's configuration from the current files, with the same command line. The session
// itself does not change. The result is a session that has only a configuration. A missing or broken file is an
// error.
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
	if s.loaded.role == RoleClient { // includes the personal file, as at the start
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

// levels are the levels of console and log file. They may change while other goroutines log.
type levels struct{ console, file level }

type level struct{ slog.LevelVar }

// at sets the first level and returns the variable.
func (l *level) at(first slog.Level) *slog.LevelVar {
	l.Set(first)
	return &l.LevelVar
}

// FollowLevels adopts the log levels of another configuration. A log file that was not opened stays closed.
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
