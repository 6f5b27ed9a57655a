package git

import (
	"slices"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is git, where there is the program.
func Module() loader.Module {
	return loader.Module{File: "git", Virtual: virtual, Funcs: func() []loader.Func {
		return slices.Concat(changing(), looking(), remoteFuncs(), configFuncs(), worktreeFuncs())
	}}
}

func virtual(loader.Place) (bool, string) {
	if program.Which("git") == "" {
		return false, "The git execution module cannot be loaded: git unavailable."
	}
	return true, ""
}

// The parameters that functions share, in the order in which they follow one another.
type (
	options struct {
		Opts    any `arg:"opts=''"`
		GitOpts any `arg:"git_opts=''"`
		account
	}
	account struct {
		User     any `arg:"user=None"`
		Password any `arg:"password=None"` // of Windows alone, as in Salt
	}
	tail struct {
		Ignore   bool `arg:"ignore_retcode=False"`
		Encoding any  `arg:"output_encoding=None"`
	}
	saltenvTail struct {
		Ignore   bool   `arg:"ignore_retcode=False"`
		Saltenv  string `arg:"saltenv=base"`
		Encoding any    `arg:"output_encoding=None"`
	}
	local struct { // what functions of one checkout end with
		options
		tail
	}
)

func (a account) work(c *loader.Call, cwd any) *Work {
	return &Work{Call: c, Cwd: Expand(cwd, a.User), User: a.User}
}

func (a local) work(c *loader.Call, cwd any) *Work {
	w := a.account.work(c, cwd)
	w.Ignore, w.Encoding = a.Ignore, a.Encoding
	return w
}

// with is the work with what functions that reach another host add.
func (w *Work) with(identity any, t saltenvTail) *Work {
	w.Identity, w.Saltenv, w.Ignore, w.Encoding = identities(identity), t.Saltenv, t.Ignore, t.Encoding
	return w
}

func identities(v any) []any {
	switch x := v.(type) {
	case []any:
		return x
	case nil:
		return nil
	}
	if !python.Truth(v) {
		return nil
	}
	return []any{v}
}

// command is a command line of git: its own options, the command, and the options of that.
func (a options) command(command ...string) ([]string, error) {
	own, err := words(a.GitOpts)
	if err != nil {
		return nil, err
	}
	opts, err := words(a.Opts)
	return slices.Concat(own, command, opts), err
}

// operands adds words of the caller that are no options to a command line.
func operands(line []string, more ...string) ([]string, error) {
	return append(line, more...), cmdmod.Operand(more...)
}

// noMore refuses keywords that a function does not know.
func noMore(kw *payload.Map) error {
	var unknown []string
	for name, v := range loader.CleanKWArgs(kw).All() {
		unknown = append(unknown, python.Str(name)+"="+python.Str(v))
	}
	if len(unknown) == 0 {
		return nil
	}
	return loader.InvalidKeywords(unknown)
}

// take takes a keyword out of others.
func take(kw *payload.Map, name string) any {
	v := kw.Value(name)
	kw.Delete(name)
	return v
}
