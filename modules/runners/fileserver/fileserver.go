// Package fileserver is the runner module fileserver: it shows what the master serves, and tends the copies that
// backends keep. Answers to salt/runners/fileserver.py.
package fileserver

import (
	"errors"
	"slices"
	"strings"

	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module fileserver.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "fileserver", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(m.looks(), m.chores())
	}}
}

// master serves the files.
type master struct{ runners.Options }

// looks are the functions that show what is served.
func (m *master) looks() []loader.Func {
	return []loader.Func{
		loader.Fn("envs", m.envs, "List the environments of the file server.", "salt-run fileserver.envs"),
		m.names("file_list", payload.CmdFileList, "files"),
		m.names("symlink_list", payload.CmdSymlinkList, "symbolic links"),
		m.names("dir_list", payload.CmdDirList, "directories"),
		m.names("empty_dir_list", payload.CmdFileListEmptyDirs, "empty directories"),
	}
}

// chores are the functions that change what the backends keep.
func (m *master) chores() []loader.Func {
	return []loader.Func{
		loader.Fn("clear_file_list_cache", m.clearFileLists,
			"Drop the remembered lists of files, so that new files show at once.",
			"salt-run fileserver.clear_file_list_cache saltenv=base"),
		loader.Fn("update", m.update, "Let the backends look for what has changed.",
			"salt-run fileserver.update backend=roots"),
		loader.Fn("clear_cache", m.clearCache, "Drop the copies of repositories; the next update fetches them anew.",
			"salt-run fileserver.clear_cache"),
		loader.Fn("clear_lock", m.clearLock, "Let repositories be updated again, those whose URL matches remote.",
			"salt-run fileserver.clear_lock"),
		loader.Fn("lock", m.lock, "Keep updates from repositories, those whose URL matches remote.",
			"salt-run fileserver.lock"),
	}
}

// backends is the argument backend.
type backends struct {
	Backend any `arg:"backend=None"`
}

type envsArgs struct {
	backends
	Sources bool `arg:"sources=False"`
}

func (m *master) envs(_ *loader.Call, a envsArgs) (any, error) {
	if m.Files == nil {
		return nil, runners.Unavailable("file server")
	}
	load := payload.M("sources", a.Sources)
	if back := runners.ListOf(a.Backend); back != nil {
		load.Set("back", payload.AnyList(back))
	}
	v, err := m.Files.Answer(payload.CmdFileEnvs, load)
	if by, ok := v.(*payload.Map); ok { // Salt sorts what it has, and then only names of backends are left
		names := payload.Texts(by.Keys())
		slices.Sort(names)
		return payload.AnyList(names), err
	}
	return v, err
}

type environment struct {
	Saltenv any `arg:"saltenv=base"`
	backends
}

// names is a function that lists names of an environment.
func (m *master) names(name, cmd, what string) loader.Func {
	return loader.Fn(name, func(_ *loader.Call, a environment) (any, error) {
		if m.Files == nil {
			return nil, runners.Unavailable("file server")
		}
		load := payload.M("saltenv", a.Saltenv)
		back := runners.ListOf(a.Backend)
		if back != nil && cmd != payload.CmdFileListEmptyDirs { // Salt looks at no backend of those
			load.Set("fsbackend", payload.AnyList(back))
		}
		return m.Files.Answer(cmd, load)
	}, "List the "+what+" of an environment.", "salt-run fileserver."+name+" saltenv=base")
}

type remembered struct {
	Saltenv any `arg:"saltenv=None"`
	backends
}

func (m *master) clearFileLists(c *loader.Call, a remembered) (*payload.Map, error) {
	if m.Files == nil {
		return nil, runners.Unavailable("file server")
	}
	var envs []string
	for _, env := range runners.ListOf(a.Saltenv) {
		envs = append(envs, strings.TrimSpace(env))
	}
	return m.Files.Forget(c.Ctx, envs, runners.ListOf(a.Backend))
}

type updated struct {
	backends
	KW *payload.Map `arg:"**kwargs"`
}

// update is done when the backends are; their events go out with fileserver_events.
func (m *master) update(c *loader.Call, a updated) (any, error) {
	if m.Files == nil {
		return nil, runners.Unavailable("file server")
	}
	var remotes []string
	for name, value := range loader.CleanKWArgs(a.KW).All() { // Salt hands them to the backend
		if name != "remotes" {
			return nil, &loader.ArgumentError{
				Message: "update() got an unexpected keyword argument '" + python.Str(name) + "'"}
		}
		remotes = runners.ListOf(value)
	}
	changes, err := m.Files.Update(c.Ctx, runners.ListOf(a.Backend), remotes)
	if errors.Is(err, fileserver.ErrNoRemotes) {
		return nil, &loader.ArgumentError{Message: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	for _, one := range changes {
		if m.Bus == nil || !c.Opts().Bool("fileserver_events") {
			break
		}
		if err := m.Bus.Fire(c.Ctx, event.TagFileserver(one.Backend), one.Event()); err != nil {
			return nil, err
		}
	}
	return true, nil
}

// remotes are backends, and the repositories of them that are meant.
type remotes struct {
	backends
	Remote any `arg:"remote=None"`
}

// chore asks backends that keep copies for something; nothing is what is said when there was none.
func (m *master) chore(what fileserver.Chore, a remotes, key, nothing string) (any, error) {
	if m.Files == nil {
		return nil, runners.Unavailable("file server")
	}
	remote := ""
	if a.Remote != nil {
		remote = python.Str(a.Remote)
	}
	done, failed, err := m.Files.Do(what, runners.ListOf(a.Backend), remote)
	out := payload.NewMap(2)
	if len(done) > 0 {
		out.Set(key, payload.AnyList(done))
	}
	if len(failed) > 0 {
		out.Set("errors", payload.AnyList(failed))
	}
	if err != nil || out.Len() == 0 {
		return nothing, err
	}
	return out, nil
}

func (m *master) clearCache(_ *loader.Call, a backends) (any, error) {
	return m.chore(fileserver.ClearCache, remotes{backends: a}, "cleared", "No cache was cleared")
}

func (m *master) clearLock(_ *loader.Call, a remotes) (any, error) {
	return m.chore(fileserver.ClearLock, a, "cleared", "No locks were removed")
}

func (m *master) lock(_ *loader.Call, a remotes) (any, error) {
	return m.chore(fileserver.Lock, a, "locked", "No locks were set")
}
