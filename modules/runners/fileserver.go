package runners

import (
	"errors"
	"slices"
	"strings"

	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/event"
	"brine/wire/payload"
)

const sourceFileserver = "salt/runners/fileserver.py"

func (r *runner) fileserverFuncs() []loader.Func {
	env, back, remote := loader.Opt("saltenv", "base"), loader.Opt("backend", nil), loader.Opt("remote", nil)
	funcs := []loader.Func{
		{Name: "fileserver.envs", Params: []loader.Param{back, loader.Opt("sources", false)}, Run: r.fileEnvs,
			Doc: "List the environments of the file server.\n\nCLI Example:\n\n    salt-run fileserver.envs"},
		{Name: "fileserver.clear_file_list_cache", Params: []loader.Param{loader.Opt("saltenv", nil), back}, Run: r.clearFileLists,
			Doc: "Drop the remembered lists of files, so that new files show at once.\n\nCLI Example:\n\n    salt-run fileserver.clear_file_list_cache saltenv=base"},
		{Name: "fileserver.update", Params: []loader.Param{back}, KWArgs: true, Run: r.filesUpdate,
			Doc: "Let the backends look for what has changed.\n\nCLI Example:\n\n    salt-run fileserver.update backend=roots"},
		{Name: "fileserver.clear_cache", Params: []loader.Param{back}, Run: r.fileChore(fileserver.ClearCache, "cleared", "No cache was cleared"),
			Doc: "Drop the copies of repositories; the next update fetches them anew.\n\nCLI Example:\n\n    salt-run fileserver.clear_cache"},
		{Name: "fileserver.clear_lock", Params: []loader.Param{back, remote}, Run: r.fileChore(fileserver.ClearLock, "cleared", "No locks were removed"),
			Doc: "Let repositories be updated again, those whose URL matches remote.\n\nCLI Example:\n\n    salt-run fileserver.clear_lock"},
		{Name: "fileserver.lock", Params: []loader.Param{back, remote}, Run: r.fileChore(fileserver.Lock, "locked", "No locks were set"),
			Doc: "Keep updates from repositories, those whose URL matches remote.\n\nCLI Example:\n\n    salt-run fileserver.lock"},
	}
	for name, list := range map[string]struct{ cmd, what string }{
		"file_list": {payload.CmdFileList, "files"}, "symlink_list": {payload.CmdSymlinkList, "symbolic links"},
		"dir_list": {payload.CmdDirList, "directories"}, "empty_dir_list": {payload.CmdFileListEmptyDirs, "empty directories"},
	} {
		funcs = append(funcs, loader.Func{Name: "fileserver." + name, Params: []loader.Param{env, back}, Run: r.fileNames(list.cmd),
			Doc: "List the " + list.what + " of an environment.\n\nCLI Example:\n\n    salt-run fileserver." + name + " saltenv=base"})
	}
	for i := range funcs {
		funcs[i].Source = sourceFileserver
	}
	return funcs
}

// listOf reads an argument that is a list, or a text with commas; nil is all.
func listOf(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return payload.Texts(v)
	default:
		text := pytext.Str(v)
		if text == "" {
			return nil
		}
		return strings.Split(text, ",")
	}
}

func (r *runner) fileEnvs(_ *loader.Call, a loader.Args) (any, error) {
	if r.Files == nil {
		return nil, unavailable("file server")
	}
	load := payload.M("sources", a.Bool("sources"))
	if back := listOf(a.Get("backend")); back != nil {
		load.Set("back", payload.AnyList(back))
	}
	v, err := r.Files.Answer(payload.CmdFileEnvs, load)
	if m, ok := v.(*payload.Map); ok { // Salt sorts what it has, and then only names of backends are left
		names := payload.Texts(m.Keys())
		slices.Sort(names)
		return payload.AnyList(names), err
	}
	return v, err
}

func (r *runner) fileNames(cmd string) func(*loader.Call, loader.Args) (any, error) {
	return func(_ *loader.Call, a loader.Args) (any, error) {
		if r.Files == nil {
			return nil, unavailable("file server")
		}
		load := payload.M("saltenv", a.Get("saltenv"))
		if back := listOf(a.Get("backend")); back != nil && cmd != payload.CmdFileListEmptyDirs { // whose backend Salt does not look at
			load.Set("fsbackend", payload.AnyList(back))
		}
		return r.Files.Answer(cmd, load)
	}
}

func (r *runner) clearFileLists(c *loader.Call, a loader.Args) (any, error) {
	if r.Files == nil {
		return nil, unavailable("file server")
	}
	var envs []string
	for _, env := range listOf(a.Get("saltenv")) {
		envs = append(envs, strings.TrimSpace(env))
	}
	return r.Files.Forget(c.Ctx, envs, listOf(a.Get("backend")))
}

// filesUpdate is done when the backends are; their events go out with fileserver_events.
func (r *runner) filesUpdate(c *loader.Call, a loader.Args) (any, error) {
	if r.Files == nil {
		return nil, unavailable("file server")
	}
	var remotes []string
	for name, value := range a.UserKW().All() { // Salt hands them to the backend
		if name != "remotes" {
			return nil, &loader.ArgumentError{Message: "update() got an unexpected keyword argument '" + pytext.Str(name) + "'"}
		}
		remotes = listOf(value)
	}
	changes, err := r.Files.Update(c.Ctx, listOf(a.Get("backend")), remotes)
	if errors.Is(err, fileserver.ErrNoRemotes) {
		return nil, &loader.ArgumentError{Message: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	for _, one := range changes {
		if r.Bus == nil || !c.Opts().Bool("fileserver_events") {
			break
		}
		if err := r.Bus.Fire(c.Ctx, event.TagFileserver(one.Backend), one.Event()); err != nil {
			return nil, err
		}
	}
	return true, nil
}

// fileChore asks backends that keep copies for something.
func (r *runner) fileChore(chore fileserver.Chore, key, nothing string) func(*loader.Call, loader.Args) (any, error) {
	return func(_ *loader.Call, a loader.Args) (any, error) {
		if r.Files == nil {
			return nil, unavailable("file server")
		}
		remote := ""
		if chore != fileserver.ClearCache && a.Get("remote") != nil {
			remote = pytext.Str(a.Get("remote"))
		}
		done, failed, err := r.Files.Do(chore, listOf(a.Get("backend")), remote)
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
}
