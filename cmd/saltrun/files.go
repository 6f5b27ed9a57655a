package saltrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/modules/fileserver"
	"brine/modules/fileserver/gitfs"
	"brine/wire/control"
	"brine/wire/payload"
)

// masterFiles serves the files of the master. This process reads them itself.
type masterFiles struct {
	session *session.Session
	server  *fileserver.Server // nil before the first use
}

func (f *masterFiles) open() (*fileserver.Server, error) {
	if f.server != nil {
		return f.server, nil
	}
	s, err := fileserver.Configured(f.session.Master.Raw, gitfs.Kind())
	if s == nil {
		return nil, err
	}
	if err != nil {
		f.session.Log.Warn("the file server leaves something out", "err", err)
	}
	f.server = s
	return s, nil
}

// Answer answers a command of the wire.
func (f *masterFiles) Answer(cmd string, load *payload.Map) (any, error) {
	s, err := f.open()
	if err != nil {
		return nil, err
	}
	v, _, err := s.Answer(cmd, load)
	return v, err
}

// Update updates the backends and returns their changes.
func (f *masterFiles) Update(ctx context.Context, back, remotes []string) ([]*fileserver.Changes, error) {
	s, err := f.open()
	if err != nil {
		return nil, err
	}
	return s.Refresh(ctx, back, remotes)
}

// Do does a chore of backends that keep copies. A running master uses the same copies and notices the change.
func (f *masterFiles) Do(chore fileserver.Chore, back []string, remote string) (done, failed []string, err error) {
	s, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	done, failed = s.Do(chore, back, remote)
	return done, failed, nil
}

// Forget asks a running brine master to drop its file lists. Otherwise it removes the files in which a Salt
// master keeps them.
func (f *masterFiles) Forget(ctx context.Context, envs, back []string) (*payload.Map, error) {
	if d := masterlink.Daemon(f.session); d != nil {
		ctx, cancel := context.WithTimeout(ctx, control.AskTimeout)
		defer cancel()
		return control.Ask(ctx, d, control.ForgetFileLists{Envs: envs, Backends: back})
	}
	return forgetFiled(filepath.Join(f.session.Master.CacheDir, "file_lists"), envs, back)
}

// forgetFiled removes the lists that a Salt master has left in its cache (BACKEND/ENVIRONMENT.p), and returns
// their names.
func forgetFiled(dir string, envs, back []string) (*payload.Map, error) {
	out := payload.NewMap(1)
	backends, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	for _, b := range backends {
		if len(back) > 0 && !slices.Contains(back, b.Name()) {
			continue
		}
		lists, bad := os.ReadDir(filepath.Join(dir, b.Name()))
		err = errors.Join(err, bad)
		var gone []any
		for _, l := range lists {
			env, isList := strings.CutSuffix(l.Name(), ".p")
			if !isList || len(envs) > 0 && !slices.Contains(envs, env) {
				continue
			}
			if bad := os.Remove(filepath.Join(dir, b.Name(), l.Name())); bad != nil {
				err = errors.Join(err, bad)
				continue
			}
			gone = append(gone, env)
		}
		if len(gone) > 0 {
			out.Set(b.Name(), gone)
		}
	}
	return out, err
}
