package git

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// looking are the functions that read a checkout.
func looking() []loader.Func {
	return []loader.Func{
		loader.Fn("current_branch", currentBranch, "Name the current branch.", "git.current_branch /path/to/repo"),
		loader.Fn("describe", describe, "Name a revision by the tag before it.", "git.describe /path/to/repo develop"),
		loader.Fn("diff", diff, "Show changes.", "git.diff /path/to/repo"),
		loader.Fn("is_worktree", isWorktree, "Tell whether a directory is part of a worktree.",
			"git.is_worktree /path/to/repo"),
		loader.Fn("list_branches", listBranches, "List branches.", "git.list_branches /path/to/repo"),
		loader.Fn("list_tags", listTags, "List tags.", "git.list_tags /path/to/repo"),
		loader.Fn("merge_base", mergeBase, "Find the commit at which histories part.",
			"git.merge_base /path/to/repo HEAD upstream/mybranch"),
		loader.Fn("merge_tree", mergeTree, "Show what a merge would do.",
			"git.merge_tree /path/to/repo HEAD upstream/dev"),
		loader.Fn("rev_parse", revParse, "Run git rev-parse.", "git.rev_parse /path/to/repo HEAD"),
		loader.Fn("revision", revision, "Give the hash of a revision.", "git.revision /path/to/repo"),
		loader.Fn("status", status, "List changed files by what has happened to them.", "git.status /path/to/repo"),
		loader.Fn("version", version, "Give the version of git.", "git.version"),
	}
}

type plain struct {
	Cwd any `arg:"cwd"`
	account
	tail
}

func (a plain) run(c *loader.Call) *Work {
	return local{options{account: a.account}, a.tail}.work(c, a.Cwd)
}

func currentBranch(c *loader.Call, a plain) (string, error) { return a.run(c).Branch() }

// Branch is the current branch, HEAD where there is none.
func (w *Work) Branch() (string, error) { return w.Out("rev-parse", "--abbrev-ref", "HEAD") }

func describe(c *loader.Call, a struct {
	Cwd any    `arg:"cwd"`
	Rev string `arg:"rev=HEAD"`
	account
	tail
}) (string, error) {
	if err := cmdmod.Operand(a.Rev); err != nil {
		return "", err
	}
	return plain{a.Cwd, a.account, a.tail}.run(c).Out("describe", "--always", a.Rev)
}

type diffed struct {
	Cwd   any `arg:"cwd"`
	Item1 any `arg:"item1=None"`
	Item2 any `arg:"item2=None"`
	options
	NoIndex  bool `arg:"no_index=False"`
	Cached   bool `arg:"cached=False"`
	Paths    any  `arg:"paths=None"`
	Encoding any  `arg:"output_encoding=None"`
}

func diff(c *loader.Call, a diffed) (string, error) {
	if a.NoIndex && a.Cached {
		return "", loader.ExecErr("The 'no_index' and 'cached' options cannot be used together")
	}
	line, err := a.command("diff")
	if err != nil {
		return "", err
	}
	var items []string
	for _, v := range []any{a.Item1, a.Item2} {
		if python.Truth(v) {
			items = append(items, python.Str(v))
		}
	}
	w := local{a.options, tail{a.NoIndex, a.Encoding}}.work(c, a.Cwd)
	switch {
	case a.NoIndex:
		line, items = append(line, "--no-index"), nil
	case a.Cached:
		line = append(line, "--cached")
		items = items[:min(len(items), 1)]
	}
	if line, err = operands(line, items...); err != nil {
		return "", err
	}
	if paths := split(a.Paths); len(paths) > 0 {
		line = append(append(line, "--"), paths...)
	}
	out, err := w.run(line, true, !a.NoIndex)
	return out.Stdout, err
}

// split is a list of texts, or one text with commas.
func split(v any) []string {
	switch x := v.(type) {
	case nil:
		return nil
	case []any:
		out := make([]string, len(x))
		for i := range x {
			out[i] = python.Str(x[i])
		}
		return out
	}
	return strings.Split(python.Str(v), ",")
}

func isWorktree(c *loader.Call, a struct {
	Cwd any `arg:"cwd"`
	account
	Encoding any `arg:"output_encoding=None"`
}) (bool, error) {
	return plain{a.Cwd, a.account, tail{true, a.Encoding}}.run(c).IsWorktree(), nil
}

// IsWorktree tells whether the directory is in a checkout whose repository is elsewhere.
func (w *Work) IsWorktree() bool {
	top, err := w.Quiet().Out("rev-parse", "--show-toplevel")
	if err != nil {
		return false
	}
	f, err := plainfile.Open(filepath.Join(top, ".git"))
	if err != nil {
		return false
	}
	defer f.Close()
	first, _ := bufio.NewReader(f).ReadString('\n')
	label, path, _ := strings.Cut(strings.TrimSpace(first), " ")
	return label == "gitdir:" && filepath.IsAbs(strings.TrimSpace(path))
}

func listBranches(c *loader.Call, a struct {
	Cwd    any  `arg:"cwd"`
	Remote bool `arg:"remote=False"`
	account
	tail
}) ([]any, error) {
	w := plain{a.Cwd, a.account, a.tail}.run(c)
	if a.Remote {
		return anyLines(w.Refs("refs/remotes/"))
	}
	return anyLines(w.Refs("refs/heads/"))
}

func listTags(c *loader.Call, a plain) ([]any, error) { return anyLines(a.run(c).Refs("refs/tags/")) }

// Refs are the short names of the references below a path.
func (w *Work) Refs(below string) ([]string, error) {
	text, err := w.Out("for-each-ref", "--format", "%(refname:short)", below)
	return lines(text), err
}

func lines(text string) []string { return cmdmod.Output{Stdout: text}.Lines() }

func anyLines(list []string, err error) ([]any, error) { return payload.AnyList(list), err }

type based struct {
	Cwd         any  `arg:"cwd"`
	Refs        any  `arg:"refs=None"`
	Octopus     bool `arg:"octopus=False"`
	Ancestor    bool `arg:"is_ancestor=False"`
	Independent bool `arg:"independent=False"`
	ForkPoint   any  `arg:"fork_point=None"`
	local
	KW *payload.Map `arg:"**kwargs"`
}

// modes are the options of git merge-base that the arguments ask for.
func (a based) modes() (out []string) {
	for word, given := range map[string]bool{"--octopus": a.Octopus, "--is-ancestor": a.Ancestor,
		"--independent": a.Independent, "--fork-point": python.Truth(a.ForkPoint)} {
		if given {
			out = append(out, word)
		}
	}
	return out
}

// refs are the revisions, as many as the mode wants.
func (a based) refs() ([]string, error) {
	refs, isList := a.Refs.([]any)
	out := make([]string, len(refs))
	for i := range refs {
		out[i] = python.Str(refs[i])
	}
	if !isList && a.Refs != nil {
		for part := range strings.SplitSeq(python.Str(a.Refs), ",") {
			out = append(out, strings.TrimSpace(part))
		}
	}
	switch {
	case a.Ancestor && len(out) != 2:
		return nil, loader.InvocErr("Two refs/commits are required if 'is_ancestor' is True")
	case a.Ancestor || !python.Truth(a.ForkPoint):
	case len(out) > 1:
		return nil, loader.InvocErr("At most one ref/commit can be passed if 'fork_point' is specified")
	case len(out) == 0:
		out = []string{"HEAD"}
	}
	return out, nil
}

func mergeBase(c *loader.Call, a based) (any, error) {
	kw := loader.CleanKWArgs(a.KW)
	all := python.Truth(take(kw, "all"))
	if err := noMore(kw); err != nil {
		return nil, err
	}
	modes := a.modes()
	switch {
	case all && (a.Independent || a.Ancestor || python.Truth(a.ForkPoint)):
		return nil, loader.InvocErr("The 'all' argument is not compatible with 'independent', 'is_ancestor', or " +
			"'fork_point'")
	case len(modes) > 1:
		return nil, loader.InvocErr("Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is " +
			"permitted")
	}
	refs, err := a.refs()
	if err != nil {
		return nil, err
	}
	line, err := a.command("merge-base")
	if err != nil {
		return nil, err
	}
	if all {
		line = append(line, "--all")
	}
	line = append(line, modes...)
	if python.Truth(a.ForkPoint) {
		refs = append([]string{python.Str(a.ForkPoint)}, refs...)
	}
	if line, err = operands(line, refs...); err != nil {
		return nil, err
	}
	out, err := a.work(c, a.Cwd).run(line, false, !a.Ancestor)
	bases := lines(out.Stdout)
	switch {
	case err != nil:
		return nil, err
	case a.Ancestor:
		return out.Code == 0, nil
	case all:
		return payload.AnyList(bases), nil
	case len(bases) == 0:
		return nil, loader.Raise("IndexError", "list index out of range")
	}
	return bases[0], nil
}

// IsAncestor tells whether one revision is part of the history of another.
func (w *Work) IsAncestor(old, later string) (bool, error) {
	out, err := w.Try("merge-base", "--is-ancestor", old, later)
	return out.Code == 0, err
}

func mergeTree(c *loader.Call, a struct {
	Cwd  any    `arg:"cwd"`
	Ref1 string `arg:"ref1"`
	Ref2 string `arg:"ref2"`
	Base any    `arg:"base=None"`
	account
	tail
}) (string, error) {
	w := plain{a.Cwd, a.account, a.tail}.run(c)
	if err := cmdmod.Operand(a.Ref1, a.Ref2, loader.Text(a.Base)); err != nil {
		return "", err
	}
	if a.Base == nil {
		base, err := w.Out("merge-base", a.Ref1, a.Ref2)
		if err != nil {
			return "", loader.ExecErr("Unable to determine merge base for %s and %s", a.Ref1, a.Ref2)
		}
		a.Base = base
	}
	return w.Out("merge-tree", python.Str(a.Base), a.Ref1, a.Ref2)
}

func revParse(c *loader.Call, a struct {
	Cwd any `arg:"cwd"`
	Rev any `arg:"rev=None"`
	local
}) (string, error) {
	line, err := a.command("rev-parse")
	if err == nil && a.Rev != nil {
		line, err = operands(line, python.Str(a.Rev))
	}
	if err != nil {
		return "", err
	}
	return a.work(c, a.Cwd).Out(line...)
}

func revision(c *loader.Call, a struct {
	Cwd   any    `arg:"cwd"`
	Rev   string `arg:"rev=HEAD"`
	Short bool   `arg:"short=False"`
	account
	tail
}) (string, error) {
	line := []string{"rev-parse"}
	if a.Short {
		line = append(line, "--short")
	}
	line, err := operands(line, a.Rev)
	if err != nil {
		return "", err
	}
	return plain{a.Cwd, a.account, a.tail}.run(c).Out(line...)
}

func status(c *loader.Call, a plain) (*payload.Map, error) {
	text, err := a.run(c).Out("status", "-z", "--porcelain")
	if err != nil {
		return nil, err
	}
	names := map[string]string{"M": "modified", "A": "new", "D": "deleted", "??": "untracked"}
	out := payload.NewMap(0)
	for line := range strings.SplitSeq(text, "\x00") {
		state, file, ok := cutFields(line)
		if !ok {
			continue
		}
		if name, known := names[state]; known {
			state = name
		}
		out.Set(state, append(out.List(state), file))
	}
	return out, nil
}

// cutFields is str.split(None, 1) where it gives two words.
func cutFields(line string) (first, rest string, ok bool) {
	line = strings.TrimLeftFunc(line, python.IsSpace)
	i := strings.IndexFunc(line, python.IsSpace)
	if i < 0 {
		return "", "", false
	}
	rest = strings.TrimLeftFunc(line[i:], python.IsSpace)
	return line[:i], rest, rest != ""
}

func version(c *loader.Call, a struct {
	Info bool `arg:"versioninfo=False"`
}) (any, error) {
	text := (&Work{Call: c}).Version()
	if !a.Info {
		return text, nil
	}
	parts := []any{}
	for part := range strings.SplitSeq(text, ".") {
		if n, err := loader.ToInt(part); err == nil {
			parts = append(parts, n)
		} else {
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// Version is the version of git, "unknown" where it does not tell.
func (w *Work) Version() string {
	text, err := (&Work{Call: w.Call}).Out("--version")
	text, _, _ = strings.Cut(text, "(")
	if words := strings.Fields(text); err == nil && len(words) > 0 {
		return words[len(words)-1]
	}
	return "unknown"
}

// atLeast tells whether git is of a version or a later one.
func (w *Work) atLeast(wanted ...int64) bool {
	var have []int64
	for part := range strings.SplitSeq(w.Version(), ".") {
		n, err := loader.ToInt(part)
		if err != nil {
			break
		}
		have = append(have, n)
	}
	return slices.Compare(have, wanted) >= 0
}

// exists tells whether there is something at a path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
