package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/saltlog"
	"brine/config"
	"brine/modules/matchers"

	"golang.org/x/sys/unix"
)

// consoleLevel is the level of the log on the console: -l, else log_level, else warning.
func (s *session) consoleLevel() slog.Level {
	if l, ok := saltlog.Level(s.opt.Str("log_level")); ok {
		return l
	}
	return slog.LevelWarn
}

// openLogs makes the session's logger: console and log file. What the configuration has to say goes there first.
func (s *session) openLogs(o opening) error {
	var handlers []slog.Handler
	if !o.daemon || !s.opt.Bool("daemon") {
		handlers = append(handlers, s.consoleLog())
	}
	file, err := s.fileLog(o)
	if err != nil {
		return err
	}
	if file != nil {
		handlers = append(handlers, file)
	}
	s.log = slog.New(saltlog.Join(handlers...))
	for _, n := range s.common.Notices {
		s.log.Log(context.Background(), n.Level, n.Text)
	}
	return nil
}

func (s *session) consoleLog() slog.Handler {
	format := cmp.Or(s.common.LogFmtConsole, s.common.Raw.Str("log_fmt"), saltlog.ConsoleFormat)
	if s.opt.Str("output") == "yaml" {
		format = "# " + format // stdout and stderr together stay YAML
	}
	return saltlog.New(beneath(s.stderr), saltlog.Options{Level: s.consoleLevel(), Format: format, Name: s.prog,
		Date: cmp.Or(s.common.Raw.Str("log_datefmt_console"), s.common.LogDateFmt)})
}

// fileLog opens the log file, nil when there is to be none. A file that cannot be made for lack of rights ends the
// tool, but for users that publisher_acl names: theirs lies in their home.
func (s *session) fileLog(o opening) (slog.Handler, error) {
	key := o.logFile
	if key == "" {
		key = "log_file"
	}
	path := s.opt.Str(key)
	level := s.consoleLevel()
	if l, ok := saltlog.Level(s.opt.Str("log_level_logfile")); ok {
		level = l
	}
	if o.unlogged && !s.opt.Given(key) {
		return nil, nil
	}
	if path == "" || level >= saltlog.LevelQuiet || s.consoleLevel() >= saltlog.LevelQuiet {
		return nil, nil
	}
	if strings.Contains(path, "://") {
		s.notice(slog.LevelWarn, "log_file: %s names no file of this machine; nothing is logged there", path)
		return nil, nil
	}
	if s.common.VerifyEnv {
		if err := prepareLogFile(path, s.common.User); err != nil {
			return nil, err
		}
	}
	file, err := saltlog.OpenFile(s.writableLog(path), 0o640)
	if err != nil {
		s.notice(slog.LevelWarn, "Failed to open log file, do you have permission to write to %s?", path)
		return nil, nil
	}
	s.atEnd(func() { _ = file.Close() })
	return saltlog.New(file, saltlog.Options{Level: level, Name: s.prog, Date: cmp.Or(s.common.LogDateFmtLogfile, saltlog.FileDate),
		Format: cmp.Or(s.common.LogFmtLogfile, saltlog.FileFormat)}), nil
}

// notice keeps a line for the log that is being opened.
func (s *session) notice(level slog.Level, format string, a ...any) {
	s.common.Notices = append(s.common.Notices, config.Notice{Level: level, Text: fmt.Sprintf(format, a...)})
}

// prepareLogFile makes the log file and its folder and gives the file to the configured user.
func prepareLogFile(path, owner string) error {
	uid, _, err := userIDs(owner)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	err = os.MkdirAll(filepath.Dir(dir), 0o755) // a new root_dir must not shut others out
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil && !isFile(path) {
		err = touch(path)
	}
	if err == nil {
		_ = config.Give(path, uid, -1) // best effort, as Salt: only root may
		return nil
	}
	switch {
	case isFile(filepath.Dir(path)):
		return exit(exitGeneric, "Failed to create path %s, is %s a file?", path, filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return exit(exitGeneric, "No permissions to access %q, are you running as the correct user?", path)
	}
	return exit(exitGeneric, "Failed to create path %q - %v", path, err)
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) // through no link
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// writableLog is path, or for a user of publisher_acl who may not write there a file in the user's own folder.
func (s *session) writableLog(path string) string {
	me := runningUser()
	if s.common.User == me || writable(path) || !s.inACL(me) {
		return path
	}
	dir := expandUser("~/.salt")
	if xdg := xdgDir(); isDir(xdg) {
		dir = xdg
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return path // opening it says why
	}
	return filepath.Join(dir, filepath.Base(path)+".log")
}

func (s *session) inACL(name string) bool {
	return slices.ContainsFunc(s.common.PublisherACL.Keys(), func(k any) bool {
		pattern, ok := k.(string)
		return ok && matchers.ExprMatch(name, pattern)
	})
}

// writable says whether this user may write the file, or make it.
func writable(path string) bool {
	if isFile(path) {
		return unix.Access(path, unix.W_OK) == nil
	}
	return unix.Access(filepath.Dir(path), unix.W_OK) == nil
}

// xdgDir is the folder of personal configuration, $XDG_CONFIG_HOME/salt.
func xdgDir() string {
	base := os.Getenv("XDG_CONFIG_HOME")
	if base == "" {
		base = expandUser("~/.config")
	}
	return filepath.Join(base, "salt")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
