package session

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
	"syscall"

	"brine/cmd/saltlog"
	"brine/cmd/terminal"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/fleet/door"
	"brine/modules/loader"
	"brine/modules/matchers"

	"golang.org/x/sys/unix"
)

// consoleLevel is the level of the log on the console: from -l, otherwise from log_level, otherwise warning.
func (s *Session) consoleLevel() slog.Level {
	if l, ok := saltlog.Level(s.Opt.Str("log_level")); ok {
		return l
	}
	return slog.LevelWarn
}

// openLogs makes the session's logger for console and log file. The notices of the configuration are its first
// lines.
func (s *Session) openLogs(o Opening) error {
	var handlers []slog.Handler
	if !o.Daemon || !s.Opt.Bool("daemon") {
		handlers = append(handlers, s.consoleLog())
	}
	file, err := s.fileLog(o)
	if err != nil {
		return err
	}
	if file != nil {
		handlers = append(handlers, file)
	}
	handler := saltlog.Join(handlers...)
	if o.Daemon {
		handler = door.Wall(handler)
	}
	s.Log = slog.New(handler)
	for _, n := range s.Common.Notices {
		s.Log.Log(context.Background(), n.Level, n.Text)
	}
	return nil
}

func (s *Session) consoleLog() slog.Handler {
	format := cmp.Or(s.Common.LogFmtConsole, s.Common.Raw.Str("log_fmt"), saltlog.ConsoleFormat)
	if s.Opt.Str("output") == "yaml" {
		format = "# " + format // the combination of stdout and stderr stays YAML
	}
	return saltlog.New(terminal.Beneath(s.Stderr), saltlog.Options{Level: s.levels.console.at(s.consoleLevel()),
		Format: format, Name: s.Prog,
		Date: cmp.Or(s.Common.Raw.Str("log_datefmt_console"), s.Common.LogDateFmt)})
}

// fileLog opens the log file. It returns nil if there is none to write. If the rights to make the file are
// missing, the tool ends. Users in publisher_acl are an exception: their log is in their home directory.
func (s *Session) fileLog(o Opening) (slog.Handler, error) {
	key := o.LogFile
	if key == "" {
		key = "log_file"
	}
	path := s.Opt.Str(key)
	level := s.consoleLevel()
	if l, ok := saltlog.Level(s.Opt.Str("log_level_logfile")); ok {
		level = l
	}
	if o.Unlogged && !s.Opt.Given(key) {
		return nil, nil
	}
	if path == "" || level >= saltlog.LevelQuiet || s.consoleLevel() >= saltlog.LevelQuiet {
		return nil, nil
	}
	if strings.Contains(path, "://") {
		s.notice(slog.LevelWarn, "log_file: %s names no file of this machine; nothing is logged there", path)
		return nil, nil
	}
	if s.Common.VerifyEnv {
		if err := prepareLogFile(path, s.Common.User); err != nil {
			return nil, err
		}
	}
	file, err := saltlog.OpenFile(s.writableLog(path), 0o640)
	if err != nil {
		s.notice(slog.LevelWarn, "Failed to open log file, do you have permission to write to %s?", path)
		return nil, nil
	}
	s.AtEnd(func() { _ = file.Close() })
	return saltlog.New(file, saltlog.Options{Level: s.levels.file.at(level), Name: s.Prog,
		Date:   cmp.Or(s.Common.LogDateFmtLogfile, saltlog.FileDate),
		Format: cmp.Or(s.Common.LogFmtLogfile, saltlog.FileFormat)}), nil
}

// notice keeps a line until the log is open.
func (s *Session) notice(level slog.Level, format string, a ...any) {
	s.Common.Notices = append(s.Common.Notices, config.Notice{Level: level, Text: fmt.Sprintf(format, a...)})
}

// prepareLogFile makes the log file and its folder, and gives the file to the configured user. Unlike Salt: if
// that fails for any reason but missing rights, the error is shown in full. Salt shows only the end of a
// traceback.
func prepareLogFile(path, owner string) error {
	uid, _, err := UserIDs(owner)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	err = os.MkdirAll(filepath.Dir(dir), 0o755) // a new root_dir must stay accessible for others
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil && !IsFile(path) {
		err = touch(path)
	}
	if err == nil && isDir(path) {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err == nil {
		_ = config.Give(path, uid, -1) // may fail, as in Salt: only root can change owners
		return nil
	}
	switch {
	case IsFile(filepath.Dir(path)):
		return tool.Exit(tool.ExitGeneric, "Failed to create path %s, is %s a file?", path, filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return tool.Exit(tool.ExitGeneric, "No permissions to access %q, are you running as the correct user?", path)
	}
	return tool.ExitFor(err, tool.ExitUsage, "Failed to create path \"%s\" - %s", path, pythonText(err))
}

// pythonText is the text of an operating system error as Python writes it.
func pythonText(err error) string {
	var p *fs.PathError
	var number syscall.Errno
	if errors.As(err, &p) && errors.As(err, &number) {
		return loader.OSErrorText(number, p.Path)
	}
	return err.Error()
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) // does not follow a link
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// writableLog is path. For a user of publisher_acl who may not write there, it is a file in the user's own
// folder.
func (s *Session) writableLog(path string) string {
	me := RunningUser()
	if s.Common.User == me || writable(path) || !s.inACL(me) {
		return path
	}
	dir := expandUser("~/.salt")
	if xdg := xdgDir(); isDir(xdg) {
		dir = xdg
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return path // opening it gives the reason
	}
	return filepath.Join(dir, filepath.Base(path)+".log")
}

func (s *Session) inACL(name string) bool {
	return slices.ContainsFunc(s.Common.PublisherACL.Keys(), func(k any) bool {
		pattern, ok := k.(string)
		return ok && matchers.ExprMatch(name, pattern)
	})
}

// writable tells whether this user may write or make the file.
func writable(path string) bool {
	if IsFile(path) {
		return unix.Access(path, unix.W_OK) == nil
	}
	return unix.Access(filepath.Dir(path), unix.W_OK) == nil
}

// xdgDir is the folder for personal configuration, $XDG_CONFIG_HOME/salt.
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
