package pip

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/python"
)

// requirements adds files of requirements; missing is one that the master does not have. A file of the master is copied
// for another user, with those of the master that it names. Unlike Salt: a file of this machine is not, so that a user
// gets no copy of what he may not read.
func (l *line) requirements(v, user any, env string) (missing string) {
	if v == nil {
		return ""
	}
	if _, isList := v.([]any); !isList {
		if _, isText := v.(string); !isText {
			l.fail(&loader.ArgumentError{Message: "requirements must be a string or list"})
			return ""
		}
	}
	for _, name := range split(v) {
		file := name
		if strings.HasPrefix(name, "salt://") {
			got, err := l.c.Call("cp.cache_file", []any{name, env}, nil)
			if err != nil {
				l.fail(err)
				return ""
			}
			if !python.Truth(got) {
				return name
			}
			file = python.Str(got)
			if python.Truth(user) {
				file = l.copied(file, python.Str(user))
			}
		}
		l.add("--requirement", file)
	}
	return ""
}

// maxRequirements is the size of the largest file of requirements, in bytes.
const maxRequirements = 1 << 24

var (
	comments = pattern.New(`(?m)(?:^|\s+)#.*$`)
	chained  = pattern.New(`(?m)(?:-r\s|--requirement[=\s])(.*)$`)
)

// copied is a copy of a file for a user, with the files that it names beside it.
func (l *line) copied(file, user string) string {
	dir, err := os.MkdirTemp("", "__salt.tmp.pip.")
	if err != nil {
		l.fail(err)
		return file
	}
	l.temps = append(l.temps, dir)
	paths, todo, top := []string{}, []string{filepath.Base(file)}, filepath.Dir(file)
	seen := map[string]bool{}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if seen[name] || !filepath.IsLocal(name) {
			continue
		}
		seen[name] = true
		text, err := plainfile.Read(filepath.Join(top, name), maxRequirements)
		if err != nil {
			if len(paths) == 0 {
				l.fail(err)
			}
			continue // pip tells
		}
		to := filepath.Join(dir, name)
		if sub := filepath.Dir(to); sub != dir {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				l.fail(err)
			}
		}
		if err := os.WriteFile(to, text, 0o444); err != nil {
			l.fail(err)
		}
		paths = append(paths, to)
		for _, m := range chained.FindAllStringSubmatch(comments.ReplaceAllString(string(text), ""), -1) {
			todo = append(todo, filepath.Join(filepath.Dir(name), strings.TrimSpace(m[1])))
		}
	}
	account, err := program.LookupAccount(user, "")
	if err == nil && account.Credential != nil {
		err = os.Lchown(dir, int(account.Credential.Uid), -1)
	}
	if err != nil {
		l.fail(loader.ExecErr("User '%s' is not available", user))
	}
	return filepath.Join(dir, filepath.Base(file))
}
