// Package git is the state module git: checkouts of repositories, and options of git. What git does stands in
// modules/execution/git. Answers to salt/states/git.py.
//
// Unlike Salt: a user and a password for HTTPS are in no argument, no configuration of a repository and no return (see
// modules/execution/git), and the contents of a target are removed by its descriptor, so that nobody can lead the
// removal elsewhere.
package git

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/git"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is git, where there is the execution module.
func Module() loader.Module {
	return loader.Module{File: "git", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("latest", latest, "Have a checkout of the newest revision of a repository.",
				"git.latest:", "  - name: https://example.com/site.git", "  - target: /srv/site", "  - rev: main"),
			states.Fn("present", present, "Have a repository.",
				"/srv/site.git:", "  git.present:", "    - bare: True"),
			states.Fn("detached", detached, "Have a checkout of one revision, on no branch.",
				"https://example.com/site.git:", "  git.detached:", "    - rev: v1.2", "    - target: /srv/site"),
			states.Fn("cloned", cloned, "Have a clone of a repository, of whatever age.",
				"https://example.com/site.git:", "  git.cloned:", "    - target: /srv/site"),
			states.Fn("config_unset", configUnset, "Have no value for an option of git.",
				"user.email:", "  git.config_unset:", "    - repo: /srv/site"),
			states.Fn("config_set", configSet, "Have a value for an option of git.",
				"user.email:", "  git.config_set:", "    - value: site@example.com", "    - repo: /srv/site"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("git.version") {
		return false, "git module could not be loaded"
	}
	return true, ""
}

// who is whose rights git is run with.
type who struct {
	User     any `arg:"user=None"`
	Password any `arg:"password=None"` // of Windows alone, as in Salt
}

// work is git in a directory.
func (a who) work(c *states.Call, dir string, encoding any) *git.Work {
	return &git.Work{Call: c.Call, Cwd: git.Expand(dir, a.User), User: a.User, Encoding: encoding}
}

var failed = pattern.New(`^Command ['"].+['"] failed: `)

// reason is what a command said about its failure, without the command.
func reason(err error) string {
	text := loader.Message(err)
	return strings.TrimPrefix(text, failed.FindString(text))
}

// sentences are comments in a row.
func sentences(comments []string) string {
	text := strings.Join(comments, ". ")
	if len(comments) > 1 {
		text += "."
	}
	return text
}

// withMade is a failure beside what was done before it.
func withMade(text string, comments []string) string {
	if len(comments) == 0 {
		return text
	}
	return text + "\n\nChanges already made: " + sentences(comments)
}

// unknown refuses keywords that no parameter takes; "" where there are none.
func unknown(kw *payload.Map) string {
	var words []string
	for name, v := range loader.CleanKWArgs(kw).All() {
		words = append(words, python.Str(name)+"="+python.Str(v))
	}
	if len(words) == 0 {
		return ""
	}
	return loader.Message(loader.InvalidKeywords(words))
}

// identity is the list of private keys, checked; why is what is wrong with it.
func identity(c *states.Call, v any, word, saltenv string) (out []any, why string, err error) {
	switch x := v.(type) {
	case nil:
		return nil, "", nil
	case string:
		out = []any{x}
	case []any:
		out = x
	default:
		return nil, word + " must be either a list or a string", nil
	}
	word = strings.ToLower(word[:1]) + word[1:]
	for i, item := range out {
		path := expandHome(python.Str(item))
		out[i] = path
		if strings.Contains(path, "salt://") {
			got, err := c.Salt("cp.cache_file", nil, path, saltenv)
			if err != nil {
				return nil, "", err
			}
			if !python.Truth(got) {
				return nil, word + " '" + path + "' does not exist.", nil
			}
			path = python.Str(got)
		}
		if !filepath.IsAbs(path) {
			return nil, word + " '" + path + "' is not an absolute path", nil
		}
	}
	return out, "", nil
}

// expandHome is a path whose first "~" is the home directory of this process.
func expandHome(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return strings.TrimSuffix(git.Expand(strings.TrimPrefix(path[1:], "/"), nil), "/")
	}
	return path
}

// hexDigits tells whether a text could be the hash of a commit.
func hexDigits(s string) bool {
	return len(s) <= 40 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// clear removes what is in a directory, by its descriptor; what could not be removed is told.
func clear(dir string) (why string) {
	root, err := safefile.OpenRoot(dir)
	if err != nil {
		return err.Error()
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return err.Error()
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return err.Error()
	}
	for _, name := range names {
		if err := root.RemoveAll(name); err != nil {
			why += "\n  " + filepath.Join(dir, name) + "\n    " + err.Error()
		}
	}
	return why
}

// entries tells how many there are in a directory.
func entries(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}
