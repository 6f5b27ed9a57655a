package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Environment is what must exist on disk before a daemon starts.
type Environment struct {
	User       string   // name of the user the daemon runs as
	Dirs       []string // directories, in the order of their creation
	PKIDirs    []string // key directories in Dirs, which only the user may enter
	Private    []string // other directories in Dirs that only the user may enter
	Permissive bool     // a foreign group is allowed if the user is a member
}

// Environment lists the directories of a master.
func (m *Master) Environment() Environment {
	env := Environment{User: m.User, Permissive: m.PermissivePKIAccess, PKIDirs: []string{m.PKIDir}}
	env.Dirs = append(env.Dirs, m.PKIDir)
	for _, name := range []string{"minions", "minions_pre", "minions_denied", "minions_autosign", "minions_rejected"} {
		env.Dirs = append(env.Dirs, filepath.Join(m.PKIDir, name))
	}
	env.Dirs = append(env.Dirs, m.CacheDir, filepath.Join(m.CacheDir, "jobs"), filepath.Join(m.CacheDir, "proc"),
		m.SockDir, m.TokenDir, m.SyndicDir, m.SqliteQueueDir)
	env.Private = []string{filepath.Join(m.CacheDir, "proc"), m.TokenDir, m.SyndicDir, m.SqliteQueueDir}
	if !m.Shared() {
		env.Private = append(env.Private, filepath.Join(m.CacheDir, "jobs"))
	}
	if m.ClusterID != "" && m.ClusterPKIDir != "" {
		env.PKIDirs = append(env.PKIDirs, m.ClusterPKIDir)
		for _, name := range []string{"", "peers", "minions", "minions_pre", "minions_denied", "minions_autosign",
			"minions_rejected"} {
			env.Dirs = append(env.Dirs, filepath.Join(m.ClusterPKIDir, name))
		}
	}
	return env
}

// Shared tells whether users other than the master's may publish. Salt's command line reads files of the job cache as
// the user who runs it.
func (m *Master) Shared() bool {
	return m.PublisherACL.Len() > 0 || m.ExternalAuth.Len() > 0
}

// Environment lists the directories of a minion.
func (m *Minion) Environment() Environment {
	confd := m.Raw.Str("default_include")
	if strings.Contains(confd, "*") {
		confd = filepath.Dir(confd)
	}
	if !filepath.IsAbs(confd) {
		confd = filepath.Join(m.ConfigDir, confd)
	}
	return Environment{
		User: m.User, Permissive: m.PermissivePKIAccess, PKIDirs: []string{m.PKIDir},
		Private: []string{filepath.Join(m.CacheDir, "proc")},
		Dirs: []string{m.PKIDir, m.CacheDir, filepath.Join(m.CacheDir, "proc"), m.SockDir, m.ExtensionModules,
			confd},
	}
}

// owner is the user who must own the directories.
type owner struct {
	uid, gid int
	groups   []int // of the user, if a foreign group is allowed
}

// Verify makes missing directories, and as root gives them and their content to the user. It returns notices about what
// it could not correct. If the daemon cannot start, the error is a *Error with Salt's exit code: 67 for an unknown
// user, the errno for a directory that cannot be made. It answers to salt/utils/verify.py, verify_env.
func (e Environment) Verify() ([]Notice, error) {
	o, err := lookUp(e.User, e.Permissive)
	if err != nil {
		return nil, err
	}
	root := os.Getuid() == 0
	var notices []Notice
	for _, dir := range e.Dirs {
		if dir == "" {
			continue
		}
		if err := makeDirs(dir, o, root); err != nil {
			return notices, dirError(dir, err)
		}
		if root {
			if err := o.own(dir); err != nil {
				return notices, dirError(dir, err)
			}
			o.ownContent(dir)
		}
		if slices.Contains(e.PKIDirs, dir) || slices.Contains(e.Private, dir) { // Unlike Salt: it protects only its keys
			if n := secure(dir); n != nil {
				notices = append(notices, *n)
			}
		}
	}
	return notices, nil
}

// dirError gives a failure about a directory Salt's text.
func dirError(dir string, err error) *Error {
	e := &Error{File: dir, Code: ExitGeneric, Err: err}
	var errno syscall.Errno
	var at *fs.PathError
	if errors.As(err, &errno) && errors.As(err, &at) {
		e.Code = int(errno)
		text := errno.Error()
		e.Err = &worded{text: fmt.Sprintf("[Errno %d] %s%s: '%s'", int(errno), strings.ToUpper(text[:1]), text[1:],
			at.Path), err: err}
	}
	e.Err = fmt.Errorf("Failed to create directory path \"%s\" - %w", dir, e.Err)
	return e
}

// worded is an error with another text.
type worded struct {
	text string
	err  error
}

func (w *worded) Error() string { return w.text }
func (w *worded) Unwrap() error { return w.err }

// lookUp finds the ids of a user.
func lookUp(name string, permissive bool) (owner, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return owner{}, &Error{Key: "user", Value: name, Code: ExitNoUser,
			Err: fmt.Errorf("Failed to prepare the Salt environment for user %s. The user is not available.", name)}
	}
	o := owner{}
	o.uid, _ = strconv.Atoi(u.Uid)
	o.gid, _ = strconv.Atoi(u.Gid)
	if permissive {
		ids, _ := u.GroupIds()
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil && n != o.gid {
				o.groups = append(o.groups, n)
			}
		}
	}
	return o, nil
}

// makeDirs makes a directory and its parents with mode 0755, whatever the umask is. With root it gives the directory
// itself to the user.
func makeDirs(dir string, o owner, root bool) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDirs(parent, o, false); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return nil // another process has made it, or it is not a directory: then creating its content will fail
	} else if err != nil {
		return err
	}
	if err := setMode(dir, 0o755); err != nil {
		return err
	}
	if root {
		return Give(dir, o.uid, o.gid)
	}
	return nil
}

// own gives a directory to the user unless the user already owns it.
func (o owner) own(dir string) error {
	f, err := openOwn(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || o.has(info) {
		return err
	}
	return giveOpened(f, o.uid, o.gid)
}

// has tells whether the user owns a file.
func (o owner) has(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(st.Uid) == o.uid && int(st.Gid) == o.gid || slices.Contains(o.groups, int(st.Gid)))
}

// ownContent gives everything two or more levels below dir to the user, except job files and dot files. Unlike Salt: it
// changes a symbolic link itself and not its target, and it reaches nothing outside through a link. It does not change
// a file that has other names.
func (o owner) ownContent(dir string) {
	f, err := openOwn(dir)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	root, err := os.OpenRoot(asPath(f))
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || strings.Contains(e.Name(), "jobs") || strings.Contains(dir, "/jobs") {
			continue
		}
		_ = fs.WalkDir(root.FS(), e.Name(), func(path string, d fs.DirEntry, err error) error {
			if err == nil && path != e.Name() && !strings.HasPrefix(d.Name(), ".") {
				o.ownIn(root, path)
			}
			return nil
		})
	}
}

// ownIn gives one file below a directory to the user. It ignores a file that has vanished.
func (o owner) ownIn(root *os.Root, path string) {
	info, err := root.Lstat(path)
	if err != nil || o.has(info) {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() && st.Nlink > 1 {
		return
	}
	_ = root.Lchown(path, o.uid, o.gid)
}

// secure sets a directory to mode 0700, unless it has 0700 or 0750.
func secure(dir string) *Notice {
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	switch info.Mode().Perm() {
	case 0o700, 0o750:
		return nil
	}
	if setMode(dir, 0o700) != nil {
		return &Notice{slog.LevelError, fmt.Sprintf("Unable to securely set the permissions of \"%s\".", dir)}
	}
	return nil
}
