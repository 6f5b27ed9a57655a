// Package pypath has the functions of Python's os.path and glob for paths of POSIX: what a template builds with
// file.join, file.dirname or a pattern must come out as in Salt, to the last slash. Go's path/filepath cleans where
// Python does not.
package pypath

import (
	"os"
	"path/filepath"
	"strings"
)

// Join is os.path.join.
func Join(first string, rest ...string) string {
	out := first
	for _, part := range rest {
		switch {
		case strings.HasPrefix(part, "/"):
			out = part
		case out == "" || strings.HasSuffix(out, "/"):
			out += part
		default:
			out += "/" + part
		}
	}
	return out
}

// Split is os.path.split.
func Split(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/') + 1
	dir, base = path[:i], path[i:]
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" {
		dir = trimmed
	}
	return dir, base
}

// Base is os.path.basename.
func Base(path string) string { _, base := Split(path); return base }

// Dir is os.path.dirname.
func Dir(path string) string { dir, _ := Split(path); return dir }

// Norm is os.path.normpath.
func Norm(path string) string {
	if path == "" {
		return "."
	}
	lead := ""
	if strings.HasPrefix(path, "/") {
		if lead = "/"; strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///") {
			lead = "//" // POSIX lets two slashes mean something of their own
		}
	}
	var kept []string
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "" || part == ".":
		case part != ".." || lead == "" && len(kept) == 0 || len(kept) > 0 && kept[len(kept)-1] == "..":
			kept = append(kept, part)
		case len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
	}
	if out := lead + strings.Join(kept, "/"); out != "" {
		return out
	}
	return "."
}

// Abs is os.path.abspath.
func Abs(path string) string {
	if !strings.HasPrefix(path, "/") {
		if dir, err := os.Getwd(); err == nil {
			path = Join(dir, path)
		}
	}
	return Norm(path)
}

// maxLinks is how many links are followed before they count as a loop.
const maxLinks = 255

// Real is os.path.realpath: the path without links, also where something on it is not there. A loop of links stays as
// it is.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return Abs(real)
	}
	rest := strings.Split(path, "/")
	at := "/"
	if !strings.HasPrefix(path, "/") {
		at = Abs("")
	}
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = Dir(at)
			continue
		}
		next := Join(at, part)
		target, err := os.Readlink(next)
		if err != nil || links == maxLinks {
			at = next
			continue
		}
		links++
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return Norm(at)
}

// ExpandUser is os.path.expanduser; home tells the directory of a user, "" of the process itself, or the name as it
// was.
func ExpandUser(path string, home func(name string) string) string {
	if !strings.HasPrefix(path, "~") {
		return path
	}
	name, rest, slash := strings.Cut(path[1:], "/")
	dir := home(name)
	if dir == "~"+name {
		return path
	}
	out := strings.TrimRight(dir, "/")
	if slash {
		out += "/" + rest
	}
	if out == "" {
		return "/"
	}
	return out
}

// ExpandVars is os.path.expandvars: $NAME and ${NAME} where there is such a variable.
func ExpandVars(path string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		name, size := variable(path[i:])
		if v, ok := value(name); size > 0 && ok {
			b.WriteString(v)
			i += size
			continue
		}
		b.WriteByte(path[i])
		i++
	}
	return b.String()
}

// variable is the name at the beginning of a text, and how long it is with what marks it.
func variable(s string) (name string, size int) {
	if !strings.HasPrefix(s, "$") {
		return "", 0
	}
	if strings.HasPrefix(s, "${") {
		if end := strings.IndexByte(s, '}'); end > 0 {
			return s[2:end], end + 1
		}
		return "", 0
	}
	n := 1
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	if n == 1 {
		return "", 0
	}
	return s[1:n], n
}
