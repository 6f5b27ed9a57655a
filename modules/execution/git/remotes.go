package git

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// remoteFuncs are the functions about remote repositories.
func remoteFuncs() []loader.Func {
	return []loader.Func{
		loader.Fn("fetch", fetch, "Fetch from a remote repository, and tell what was new.",
			"git.fetch /path/to/repo upstream"),
		loader.Fn("ls_remote", lsRemote, "List the references of a remote repository.",
			"git.ls_remote /path/to/repo origin master"),
		loader.Fn("remote_get", remoteGet, "Give the URLs of a remote repository.", "git.remote_get /path/to/repo"),
		loader.Fn("remote_refs", remoteRefs, "List the references of a repository by its URL.",
			"git.remote_refs https://github.com/saltstack/salt.git"),
		loader.Fn("remote_set", remoteSet, "Name a remote repository.",
			"git.remote_set /path/to/repo git@github.com:user/repo.git"),
		loader.Fn("remotes", remotes, "List the remote repositories with their URLs.", "git.remotes /path/to/repo"),
	}
}

func fetch(c *loader.Call, a struct {
	Cwd      any  `arg:"cwd"`
	Remote   any  `arg:"remote=None"`
	Force    bool `arg:"force=False"`
	Refspecs any  `arg:"refspecs=None"`
	options
	Identity any `arg:"identity=None"`
	saltenvTail
}) (*payload.Map, error) {
	opts, err := words(a.Opts)
	if err != nil {
		return nil, err
	}
	own, err := words(a.GitOpts)
	if err != nil {
		return nil, err
	}
	w := a.work(c, a.Cwd).with(a.Identity, a.saltenvTail)
	return w.fetch(own, loader.Text(a.Remote), a.Force, split(a.Refspecs), opts)
}

// Fetch fetches from a remote repository and tells what was new.
func (w *Work) Fetch(remote string, force bool, refspecs []string) (*payload.Map, error) {
	return w.fetch(nil, remote, force, refspecs, nil)
}

func (w *Work) fetch(own []string, remote string, force bool, refspecs, opts []string) (*payload.Map, error) {
	line := append(slices.Clone(own), "fetch")
	if force {
		line = append(line, "--force")
	}
	line = append(line, without(opts, 0, "-f", "--force")...)
	if remote != "" {
		refspecs = append([]string{remote}, refspecs...)
	}
	line, err := operands(line, refspecs...)
	if err != nil {
		return nil, err
	}
	text, err := w.Merged(line...)
	if err != nil {
		return nil, err
	}
	return fetched(text), nil
}

var update = pattern.New(`^[\s*]*(?:([0-9a-f]+)\.\.([0-9a-f]+)|\[(?:new (tag|branch)|tag update)\])\s+(.+)->`)

// fetched reads what git fetch says.
func fetched(text string) *payload.Map {
	out := payload.NewMap(0)
	add := func(key, name string) { out.Set(key, append(out.List(key), name)) }
	for line := range strings.SplitSeq(text, "\n") {
		m := update.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.TrimRightFunc(m[4], python.IsSpace)
		switch {
		case m[3] == "tag":
			add("new tags", name)
		case m[3] == "branch":
			add("new branches", name)
		case m[1] != "":
			updated := out.Map("updated branches")
			if updated == nil {
				updated = payload.NewMap(1)
				out.Set("updated branches", updated)
			}
			updated.Set(name, payload.M("old", m[1], "new", m[2]))
		default:
			add("updated tags", name)
		}
	}
	return out
}

func lsRemote(c *loader.Call, a struct {
	Cwd    any    `arg:"cwd=None"`
	Remote string `arg:"remote=origin"`
	Ref    any    `arg:"ref=None"`
	options
	Identity  any    `arg:"identity=None"`
	HTTPSUser any    `arg:"https_user=None"`
	HTTPSPass any    `arg:"https_pass=None"`
	Ignore    bool   `arg:"ignore_retcode=False"`
	Encoding  any    `arg:"output_encoding=None"`
	Saltenv   string `arg:"saltenv=base"`
}) (*payload.Map, error) {
	line, err := a.command("ls-remote")
	if err != nil {
		return nil, err
	}
	w := (&Work{Call: c, User: a.User}).with(a.Identity, saltenvTail{a.Ignore, a.Saltenv, a.Encoding})
	if a.Cwd != nil {
		w.Cwd = Expand(a.Cwd, a.User)
	}
	var refs []string
	if python.Truth(a.Ref) {
		refs = []string{python.Str(a.Ref)}
	}
	return w.remoteRefs(line, a.Remote, a.HTTPSUser, a.HTTPSPass, refs)
}

func remoteRefs(c *loader.Call, a struct {
	URL   string `arg:"url"`
	Heads bool   `arg:"heads=False"`
	Tags  bool   `arg:"tags=False"`
	account
	Identity  any          `arg:"identity=None"`
	HTTPSUser any          `arg:"https_user=None"`
	HTTPSPass any          `arg:"https_pass=None"`
	Ignore    bool         `arg:"ignore_retcode=False"`
	Encoding  any          `arg:"output_encoding=None"`
	Saltenv   string       `arg:"saltenv=base"`
	KW        *payload.Map `arg:"**kwargs"`
}) (*payload.Map, error) {
	kw := loader.CleanKWArgs(a.KW)
	filter := take(kw, "filter")
	if err := noMore(kw); err != nil {
		return nil, err
	}
	line := []string{"ls-remote"}
	if a.Heads {
		line = append(line, "--heads")
	}
	if a.Tags {
		line = append(line, "--tags")
	}
	w := (&Work{Call: c, User: a.User}).with(a.Identity, saltenvTail{a.Ignore, a.Saltenv, a.Encoding})
	var refs []string
	if python.Truth(filter) {
		refs = []string{python.Str(filter)}
	}
	return w.remoteRefs(line, a.URL, a.HTTPSUser, a.HTTPSPass, refs)
}

// RemoteRefs are the references of a repository with their hashes.
func (w *Work) RemoteRefs(address string, user, pass any) (*payload.Map, error) {
	return w.remoteRefs([]string{"ls-remote"}, address, user, pass, nil)
}

// RemoteTags are the names of the tags of a remote repository of a checkout.
func (w *Work) RemoteTags(remote string) (*payload.Map, error) {
	return w.remoteRefs([]string{"ls-remote", "--tags"}, remote, nil, nil, nil)
}

func (w *Work) remoteRefs(line []string, address string, user, pass any, refs []string) (*payload.Map, error) {
	plain, login, err := LoginOf(address, user, pass)
	if err != nil {
		return nil, loader.InvocErr("%s", loader.Message(err))
	}
	if line, err = operands(line, append([]string{plain}, refs...)...); err != nil {
		return nil, err
	}
	there := *w
	if login != nil {
		there.Login = login
	}
	text, err := there.Out(line...)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for row := range strings.SplitSeq(text, "\n") {
		if hash, name, ok := cutFields(row); ok {
			out.Set(name, hash)
		}
	}
	return out, nil
}

type remotesArgs struct {
	Redact bool `arg:"redact_auth=True"`
	tail
}

func remoteGet(c *loader.Call, a struct {
	Cwd    any `arg:"cwd"`
	Remote any `arg:"remote=origin"`
	account
	remotesArgs
}) (any, error) {
	return plain{a.Cwd, a.account, a.tail}.run(c).remoteGet(a.Remote, a.Redact)
}

func (w *Work) remoteGet(remote any, redact bool) (any, error) {
	all, err := w.Remotes(redact)
	if err != nil {
		return nil, err
	}
	got, ok := all.Get(remote)
	if !ok {
		return nil, loader.ExecErr("Remote '%s' not present in git checkout located at %s", python.Str(remote), w.Cwd)
	}
	return got, nil
}

func remotes(c *loader.Call, a struct {
	Cwd any `arg:"cwd"`
	account
	remotesArgs
}) (*payload.Map, error) {
	return plain{a.Cwd, a.account, a.tail}.run(c).Remotes(a.Redact)
}

// Remotes are the remote repositories of a checkout with their URLs, for fetch and for push.
func (w *Work) Remotes(redact bool) (*payload.Map, error) {
	text, err := w.Out("remote", "--verbose")
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for line := range strings.SplitSeq(text, "\n") {
		name, info, ok := cutFields(line)
		i := strings.LastIndexFunc(info, python.IsSpace)
		if !ok || i < 0 {
			continue
		}
		url, action := strings.TrimRightFunc(info[:i], python.IsSpace), strings.ToLower(strings.Trim(info[i+1:], "()"))
		if action != "fetch" && action != "push" {
			w.Call.Log(slog.LevelWarn, fmt.Sprintf("Unknown action '%s' for remote '%s' in git checkout located in %s",
				action, name, w.Cwd))
			continue
		}
		if redact {
			url = Redacted(url)
		}
		of := out.Map(name)
		if of == nil {
			of = payload.NewMap(2)
			out.Set(name, of)
		}
		of.Set(action, url)
	}
	return out, nil
}

type remoteSetArgs struct {
	Cwd    any    `arg:"cwd"`
	URL    string `arg:"url"`
	Remote string `arg:"remote=origin"`
	account
	HTTPSUser any `arg:"https_user=None"`
	HTTPSPass any `arg:"https_pass=None"`
	PushURL   any `arg:"push_url=None"`
	PushUser  any `arg:"push_https_user=None"`
	PushPass  any `arg:"push_https_pass=None"`
	tail
}

// remoteSet keeps no password in the repository: unlike Salt, whose URL has it.
func remoteSet(c *loader.Call, a remoteSetArgs) (any, error) {
	w := plain{a.Cwd, a.account, a.tail}.run(c)
	if err := w.RemoteSet(a.URL, a.Remote, a.HTTPSUser, a.HTTPSPass); err != nil {
		return nil, err
	}
	if python.Truth(a.PushURL) {
		plain, login, err := LoginOf(python.Str(a.PushURL), a.PushUser, a.PushPass)
		if err != nil {
			return nil, loader.InvocErr("%s", loader.Message(err))
		}
		if err := cmdmod.Operand(plain); err != nil {
			return nil, err
		}
		w.notKept(login)
		if _, err := w.Out("remote", "set-url", "--push", a.Remote, plain); err != nil {
			return nil, err
		}
	}
	return w.remoteGet(a.Remote, true)
}

// RemoteSet names a remote repository, whatever had the name before.
func (w *Work) RemoteSet(address, remote string, user, pass any) error {
	plain, login, err := LoginOf(address, user, pass)
	if err != nil {
		return loader.InvocErr("%s", loader.Message(err))
	}
	if err := cmdmod.Operand(remote, plain); err != nil {
		return err
	}
	w.notKept(login)
	known, err := w.Remotes(true)
	if err != nil {
		return err
	}
	if known.Has(remote) {
		if _, err := w.Out("remote", "rm", remote); err != nil {
			return err
		}
	}
	_, err = w.Out("remote", "add", remote, plain)
	return err
}

// notKept tells that a password is not in the URL of a remote repository.
func (w *Work) notKept(login *Login) {
	if login != nil {
		w.Call.Log(slog.LevelInfo, "The user and password for "+login.host+" are not written into "+w.Cwd)
	}
}
