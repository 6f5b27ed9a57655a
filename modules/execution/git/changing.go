package git

import (
	"os"
	"path/filepath"
	"slices"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// changing are the functions that change a checkout.
func changing() []loader.Func {
	return []loader.Func{
		loader.Fn("add", add, "Add files to the index, and tell which.", "git.add /path/to/repo foo/bar.py"),
		loader.Fn("archive", archive, "Export a tree from a repository.",
			"git.archive /path/to/repo /path/to/archive.tar"),
		loader.Fn("branch", branch, "Create, move or delete a branch.", "git.branch /path/to/repo newbranch"),
		loader.Fn("checkout", checkout, "Check out a revision.", "git.checkout /path/to/repo somebranch user=jeff"),
		loader.Fn("clone", clone, "Clone a repository.",
			"git.clone /path/to/repo_parent_dir https://github.com/foo/bar.git"),
		loader.Fn("commit", commit, "Record changes.", "git.commit /path/to/repo 'The commit message'"),
		loader.Fn("discard_local_changes", discard, "Undo the changes to files that are in the index.",
			"git.discard_local_changes /path/to/repo"),
		loader.Fn("init", initialize, "Create a repository.", "git.init /path/to/bare/repo.git bare=True"),
		loader.Fn("merge", merge, "Join another history to the current branch.", "git.merge /path/to/repo rev=dev"),
		loader.Fn("pull", pull, "Fetch, and join what was fetched.", "git.pull /path/to/repo opts='--rebase origin "+
			"master'"),
		loader.Fn("push", push, "Push to a remote repository.", "git.push /path/to/repo origin master"),
		loader.Fn("rebase", rebase, "Put commits on top of another revision.", "git.rebase /path/to/repo master"),
		loader.Fn("reset", reset, "Set HEAD to a revision.", "git.reset /path/to/repo opts='--hard origin/master'"),
		loader.Fn("rm", remove, "Remove files.", "git.rm /path/to/repo foo/bar.py").Named("rm_"),
		loader.Fn("stash", stash, "Put changes aside, or get them back.", "git.stash /path/to/repo opts=pop"),
		loader.Fn("submodule", submodule, "Run a command of git submodule.",
			"git.submodule /path/to/repo update opts='--init'"),
		loader.Fn("symbolic_ref", symbolicRef, "Read, change or delete a symbolic reference.",
			"git.symbolic_ref /path/to/repo HEAD"),
		loader.Fn("tag", tag, "Create or delete a tag.", "git.tag /path/to/repo v0.1"),
	}
}

// without are options without some of them.
func without(line []string, from int, some ...string) []string {
	return append(line[:from:from], slices.DeleteFunc(slices.Clone(line[from:]), func(word string) bool {
		return slices.Contains(some, word)
	})...)
}

type filed struct {
	Cwd  any `arg:"cwd"`
	File any `arg:"filename"`
	local
}

func add(c *loader.Call, a filed) (string, error) {
	line, err := a.command("add", "--verbose")
	if err != nil {
		return "", err
	}
	own, err := words(a.GitOpts)
	line = without(line, len(own)+2, "-v", "--verbose")
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Out(append(line, "--", python.Str(a.File))...)
}

func remove(c *loader.Call, a filed) (string, error) {
	line, err := a.command("rm")
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Out(append(line, "--", python.Str(a.File))...)
}

func archive(c *loader.Call, a struct {
	Cwd     any    `arg:"cwd"`
	Output  any    `arg:"output"`
	Rev     string `arg:"rev=HEAD"`
	Prefix  any    `arg:"prefix=None"`
	GitOpts any    `arg:"git_opts=''"`
	account
	tail
	KW *payload.Map `arg:"**kwargs"`
}) (bool, error) {
	kw := loader.CleanKWArgs(a.KW)
	format := take(kw, "format")
	if err := noMore(kw); err != nil {
		return false, err
	}
	all := local{options{GitOpts: a.GitOpts, account: a.account}, a.tail}
	line, err := all.command("archive")
	if err != nil {
		return false, err
	}
	w := all.work(c, a.Cwd)
	if a.Prefix != any("") {
		prefix := loader.Text(a.Prefix)
		if prefix == "" {
			prefix = filepath.Base(w.Cwd) + "/"
		}
		line = append(line, "--prefix", prefix)
	}
	if python.Truth(format) {
		line = append(line, "--format", python.Str(format))
	}
	line, err = operands(append(line, "--output", Expand(a.Output, a.User)), a.Rev)
	if err == nil {
		_, err = w.Out(line...)
	}
	return err == nil, err
}

func branch(c *loader.Call, a struct {
	Cwd  any `arg:"cwd"`
	Name any `arg:"name=None"`
	local
}) (bool, error) {
	line, err := a.command("branch")
	if err == nil && a.Name != nil {
		line, err = operands(line, python.Str(a.Name))
	}
	if err == nil {
		_, err = a.work(c, a.Cwd).Out(line...)
	}
	return err == nil, err
}

func checkout(c *loader.Call, a struct {
	Cwd   any  `arg:"cwd"`
	Rev   any  `arg:"rev=None"`
	Force bool `arg:"force=False"`
	local
}) (string, error) {
	command := []string{"checkout"}
	if a.Force {
		command = append(command, "--force")
	}
	line, err := a.command(command...)
	switch {
	case err != nil:
		return "", err
	case a.Rev != nil:
		if line, err = operands(line, python.Str(a.Rev)); err != nil {
			return "", err
		}
	case !slices.Contains(line, "-b") && !slices.Contains(line, "-B"):
		return "", loader.InvocErr("'rev' argument is required unless -b or -B in opts")
	}
	return a.work(c, a.Cwd).Merged(line...)
}

func clone(c *loader.Call, a struct {
	Cwd  any `arg:"cwd"`
	URL  any `arg:"url=None"`
	Name any `arg:"name=None"`
	options
	Identity  any `arg:"identity=None"`
	HTTPSUser any `arg:"https_user=None"`
	HTTPSPass any `arg:"https_pass=None"`
	saltenvTail
}) (bool, error) {
	if !python.Truth(a.URL) {
		return false, loader.InvocErr("Missing 'url' argument")
	}
	w := a.work(c, a.Cwd).with(a.Identity, a.saltenvTail)
	line, err := a.command("clone")
	if err != nil {
		return false, err
	}
	err = w.Clone(a.Name, python.Str(a.URL), a.HTTPSUser, a.HTTPSPass, line)
	return err == nil, err
}

// Clone makes a clone of a repository: the directory of the work, or one with a name below it.
func (w *Work) Clone(name any, address string, user, pass any, line []string) error {
	plain, login, err := LoginOf(address, user, pass)
	if err != nil {
		return loader.InvocErr("%s", loader.Message(err))
	}
	line = append(line, "--", plain)
	there := *w
	there.Login = login
	if name == nil {
		line, there.Cwd = append(line, w.Cwd), "/tmp"
	} else {
		line = append(line, python.Str(name))
		if err := os.MkdirAll(w.Cwd, 0o777); err != nil {
			return err
		}
	}
	_, err = there.Out(line...)
	return err
}

func commit(c *loader.Call, a struct {
	Cwd     any    `arg:"cwd"`
	Message string `arg:"message"`
	options
	File any `arg:"filename=None"`
	tail
}) (string, error) {
	line, err := a.command("commit", "-m", a.Message)
	if err != nil {
		return "", err
	}
	if python.Truth(a.File) {
		line = append(line, "--", python.Str(a.File))
	}
	return local{a.options, a.tail}.work(c, a.Cwd).Out(line...)
}

func discard(c *loader.Call, a struct {
	Cwd  any    `arg:"cwd"`
	Path string `arg:"path=."`
	account
	tail
}) (string, error) {
	return local{options{account: a.account}, a.tail}.work(c, a.Cwd).Merged("checkout", "--", a.Path)
}

func initialize(c *loader.Call, a struct {
	Cwd      any  `arg:"cwd"`
	Bare     bool `arg:"bare=False"`
	Template any  `arg:"template=None"`
	Separate any  `arg:"separate_git_dir=None"`
	Shared   any  `arg:"shared=None"`
	local
}) (string, error) {
	w := a.work(c, a.Cwd)
	command := []string{"init"}
	if a.Bare {
		command = append(command, "--bare")
	}
	if a.Template != nil {
		command = append(command, "--template="+python.Str(a.Template))
	}
	if a.Separate != nil {
		command = append(command, "--separate-git-dir="+python.Str(a.Separate))
	}
	if a.Shared != nil {
		command = append(command, "--shared="+shared(a.Shared))
	}
	line, err := a.command(command...)
	if err != nil {
		return "", err
	}
	return w.In("").Out(append(line, w.Cwd)...)
}

// shared is who may use a repository: a mode, or a word.
func shared(v any) string {
	switch x := v.(type) {
	case int64:
		return "0" + python.Str(x)
	case bool:
		if x {
			return "true"
		}
		return "false"
	}
	return python.Str(v)
}

func merge(c *loader.Call, a struct {
	Cwd any `arg:"cwd"`
	Rev any `arg:"rev=None"`
	options
	Identity any `arg:"identity=None"`
	tail
	KW *payload.Map `arg:"**kwargs"`
}) (string, error) {
	if err := noMore(a.KW); err != nil {
		return "", err
	}
	line, err := a.command("merge")
	if err == nil && python.Truth(a.Rev) {
		line, err = operands(line, python.Str(a.Rev))
	}
	if err != nil {
		return "", err
	}
	w := local{a.options, a.tail}.work(c, a.Cwd)
	w.Identity = identities(a.Identity)
	return w.Out(line...)
}

func pull(c *loader.Call, a struct {
	Cwd any `arg:"cwd"`
	options
	Identity any `arg:"identity=None"`
	saltenvTail
}) (string, error) {
	line, err := a.command("pull")
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).with(a.Identity, a.saltenvTail).Out(line...)
}

func push(c *loader.Call, a struct {
	Cwd    any    `arg:"cwd"`
	Remote string `arg:"remote=None"`
	Ref    string `arg:"ref=None"`
	options
	Identity any `arg:"identity=None"`
	saltenvTail
	KW *payload.Map `arg:"**kwargs"`
}) (string, error) {
	if err := noMore(a.KW); err != nil {
		return "", err
	}
	line, err := a.command("push")
	if err == nil {
		line, err = operands(line, a.Remote, a.Ref)
	}
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).with(a.Identity, a.saltenvTail).Out(line...)
}

func rebase(c *loader.Call, a struct {
	Cwd any    `arg:"cwd"`
	Rev string `arg:"rev=master"`
	local
}) (string, error) {
	line, err := a.command("rebase")
	if err != nil {
		return "", err
	}
	if slices.Contains(line, "-i") || slices.Contains(line, "--interactive") {
		return "", loader.InvocErr("Interactive rebases are not supported")
	}
	revs, err := shlex.Split(a.Rev)
	if err != nil {
		return "", loader.Raise("ValueError", "%s", err)
	}
	if line, err = operands(line, revs...); err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Out(line...)
}

func reset(c *loader.Call, a struct {
	Cwd any `arg:"cwd"`
	options
	Identity any `arg:"identity=None"`
	tail
}) (string, error) {
	line, err := a.command("reset")
	if err != nil {
		return "", err
	}
	w := local{a.options, a.tail}.work(c, a.Cwd)
	w.Identity = identities(a.Identity)
	return w.Out(line...)
}

func stash(c *loader.Call, a struct {
	Cwd    any    `arg:"cwd"`
	Action string `arg:"action=save"`
	local
}) (string, error) {
	line, err := a.command("stash", a.Action)
	if err == nil {
		err = cmdmod.Operand(a.Action)
	}
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Out(line...)
}

func submodule(c *loader.Call, a struct {
	Cwd     any    `arg:"cwd"`
	Command string `arg:"command"`
	options
	Identity any `arg:"identity=None"`
	saltenvTail
	KW *payload.Map `arg:"**kwargs"`
}) (string, error) {
	kw := loader.CleanKWArgs(a.KW)
	initial := take(kw, "init")
	if err := noMore(kw); err != nil {
		return "", err
	}
	if python.Truth(initial) {
		return "", loader.InvocErr("The 'init' argument is no longer supported. Either set 'command' to 'init', or " +
			"include '--init' in the 'opts' argument and set 'command' to 'update'.")
	}
	line, err := a.command("submodule", a.Command)
	if err == nil {
		err = cmdmod.Operand(a.Command)
	}
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).with(a.Identity, a.saltenvTail).Out(line...)
}

// symbolicRef sets the value that it is given. Salt 3008.3 gives git one letter of it after the other.
func symbolicRef(c *loader.Call, a struct {
	Cwd   any    `arg:"cwd"`
	Ref   string `arg:"ref"`
	Value any    `arg:"value=None"`
	local
}) (string, error) {
	line, err := a.command("symbolic-ref")
	if err != nil {
		return "", err
	}
	if a.Value != nil && (slices.Contains(line, "-d") || slices.Contains(line, "--delete")) {
		return "", loader.InvocErr("Value cannot be set for symbolic ref if -d/--delete is included in opts")
	}
	if line, err = operands(line, a.Ref); err == nil && python.Truth(a.Value) {
		line, err = operands(line, python.Str(a.Value))
	}
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Out(line...)
}

func tag(c *loader.Call, a struct {
	Cwd     any    `arg:"cwd"`
	Name    string `arg:"name"`
	Ref     string `arg:"ref=HEAD"`
	Message any    `arg:"message=None"`
	local
}) (string, error) {
	command := []string{"tag"}
	if a.Message != nil {
		command = append(command, "-a", "-m", python.Str(a.Message))
	}
	line, err := a.command(command...)
	if err != nil {
		return "", err
	}
	own, err := words(a.GitOpts)
	if err != nil {
		return "", err
	}
	given := len(own) + len(command)
	line = without(line, given, "-a", "--annotate")
	opts := line[given:]
	if slices.Contains(opts, "-m") || slices.Contains(opts, "--message") {
		return "", loader.InvocErr(`Tag messages must be passed in the "message" argument`)
	}
	names := []string{a.Name}
	if !slices.Contains(opts, "-d") && !slices.Contains(opts, "--delete") {
		names = append(names, a.Ref)
	}
	if line, err = operands(line, names...); err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Merged(line...)
}
