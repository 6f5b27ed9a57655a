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

// consoleLevel is the level of the log on the console: -l, else log_level, else warning.
func (s *Session) consoleLevel() slog.Level {
	if l, ok := saltlog.Level(s.Opt.Str("log_level")); ok {
		return l
	}
	return slog.LevelWarn
}

// openLogs makes the session's logger: console and log file. What the configuration has to say goes there first.
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
		format = "# " + format // stdout and stderr together stay YAML
	}
	return saltlog.New(terminal.Beneath(s.Stderr), saltlog.Options{Level: s.levels.console.at(s.consoleLevel()),
		Format: format, Name: s.Prog,
		Date: cmp.Or(s.Common.Raw.Str("log_datefmt_console"), s.Common.LogDateFmt)})
}

// fileLog opens the log file, nil when there is to be none. A file that cannot be made for lack of rights ends the
// tool, but for users that publisher_acl names: theirs lies in their home.
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

// notice keeps a line for the log that is being opened.
func (s *Session) notice(level slog.Level, format string, a ...any) {
	s.Common.Notices = append(s.Common.Notices, config.Notice{Level: level, Text: fmt.Sprintf(format, a...)})
}

// prepareLogFile makes the log file and its folder and gives the file to the configured user. Unlike Salt: where that
// fails for another reason than rights it shows the end of a traceback only.
func prepareLogFile(path, owner string) error {
	uid, _, err := UserIDs(owner)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	err = os.MkdirAll(filepath.Dir(dir), 0o755) // a new root_dir must not shut others out
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
		_ = config.Give(path, uid, -1) // best effort, as Salt: only root may
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

// pythonText is the text of an error of the operating system as Python has it.
func pythonText(err error) string {
	var p *fs.PathError
	var number syscall.Errno
	if errors.As(err, &p) && errors.As(err, &number) {
		return loader.OSErrorText(number, p.Path)
	}
	return err.Error()
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
		return path // opening it says why
	}
	return filepath.Join(dir, filepath.Base(path)+".log")
}

func (s *Session) inACL(name string) bool {
	return slices.ContainsFunc(s.Common.PublisherACL.Keys(), func(k any) bool {
		pattern, ok := k.(string)
		return ok && matchers.ExprMatch(name, pattern)
	})
}

// writable says whether this user may write the file, or make it.
func writable(path string) bool {
	if IsFile(path) {
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
