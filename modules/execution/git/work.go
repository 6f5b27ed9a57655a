package git

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// Work is where and how git is run.
type Work struct {
	Call     *loader.Call
	Cwd      string // "": the home directory of the user
	User     any    // nil: the user of this process
	Encoding any    // of the output; nil: that of this process
	Identity []any  // files of private keys for ssh; nil: what ssh finds itself
	Saltenv  string // where an identity is taken from
	Login    *Login // for HTTPS; nil: none
	Ignore   bool   // an exit code that is not 0 is no failure of the job
}

// userName is the user as text, "" where none is given.
func (w *Work) userName() string {
	if !python.Truth(w.User) {
		return ""
	}
	return python.Str(w.User)
}

// Quiet is the same work, whose failures are none of the job.
func (w *Work) Quiet() *Work {
	quiet := *w
	quiet.Ignore = true
	return &quiet
}

// In is the same work in another directory.
func (w *Work) In(dir string) *Work {
	there := *w
	there.Cwd = dir
	return &there
}

// Out runs git and gives its output. An exit code that is not 0 is an error.
func (w *Work) Out(words ...string) (string, error) {
	out, err := w.run(words, false, true)
	return out.Stdout, err
}

// Merged is Out with standard error in the output.
func (w *Work) Merged(words ...string) (string, error) {
	out, err := w.run(words, true, true)
	return out.Stdout, err
}

// Try runs git, whatever its exit code.
func (w *Work) Try(words ...string) (cmdmod.Output, error) { return w.run(words, false, false) }

// run runs git, with each identity until one is let in.
func (w *Work) run(words []string, merge, hard bool) (cmdmod.Output, error) {
	env := payload.NewMap(0)
	if w.Login != nil {
		remove, err := w.Login.offer(w, env)
		if err != nil {
			return cmdmod.Output{}, err
		}
		defer remove()
	}
	if len(w.Identity) > 0 {
		return w.runAsIdentity(words, env, merge, hard)
	}
	out, err := w.start(words, env, merge)
	if err != nil || out.Code == 0 || !hard {
		return out, err
	}
	text := "Command '" + Redacted("git "+strings.Join(words, " ")) + "' failed"
	if said := Redacted(complaint(out, merge)); said != "" {
		text += ": " + said
	}
	return out, loader.ExecErr("%s", text)
}

// complaint is what a command said about its failure.
func complaint(out cmdmod.Output, merge bool) string {
	if merge {
		return out.Stdout
	}
	return out.Stderr
}

// start runs git once. Its output may hold passwords of URLs, so it is logged here, without them.
func (w *Work) start(words []string, env *payload.Map, merge bool) (cmdmod.Output, error) {
	more := payload.M("runas", w.User, "env", env, "ignore_retcode", w.Ignore, "redirect_stderr", merge,
		"output_encoding", w.Encoding, "output_loglevel", "quiet")
	if w.Cwd != "" {
		more.Set("cwd", w.Cwd)
	}
	out, err := cmdmod.RunAll(w.Call, append([]string{"git"}, words...), more)
	if err == nil && out.Code != 0 && !w.Ignore {
		w.Call.Log(slog.LevelError, fmt.Sprintf("Command 'git' failed with return code: %d\n%s", out.Code,
			Redacted(strings.TrimSpace(out.Stdout+"\n"+out.Stderr))))
	}
	return out, err
}

var passwords = pattern.New(`(?i)(https?)://.*@`)

// Redacted is a text without the users and passwords of its URLs.
func Redacted(text string) string { return passwords.ReplaceAllString(text, "$1://<redacted>@") }

// Expand is a path as the functions take it: below the home directory of the user unless it is absolute.
func Expand(path, user any) string {
	text := python.Str(path)
	if filepath.IsAbs(text) {
		return text
	}
	home := "~" + loader.Text(user)
	if dir := homeOf(user); dir != "" {
		home = dir
	}
	if text == "" {
		return home + "/"
	}
	return strings.TrimSuffix(home, "/") + "/" + text
}

// homeOf is what Python's expanduser makes of ~user.
func homeOf(user any) string {
	if python.Truth(user) {
		return program.Home(python.Str(user))
	}
	if home, ok := os.LookupEnv("HOME"); ok {
		return home
	}
	return program.Home("")
}

// words are options as arguments: a list as it is, a text as a shell splits it.
func words(opts any) ([]string, error) {
	switch x := opts.(type) {
	case nil:
		return nil, nil
	case []any:
		out := make([]string, len(x))
		for i := range x {
			out[i] = python.Str(x[i])
		}
		return out, nil
	case string:
		out, err := shlex.Split(x)
		if err != nil {
			return nil, loader.Raise("ValueError", "%s", err)
		}
		if n := len(out); n > 0 && out[n-1] == "--" {
			out = out[:n-1]
		}
		return out, nil
	}
	return []string{python.Str(opts)}, nil
}
