package gitfs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// refspec says which references of a remote are fetched, and under which names they are kept; one star stands for
// anything. A reference that was rewritten is taken as it is now, with or without a plus sign: as with Salt's own,
// which all have one.
type refspec struct{ from, to string }

func parseRefspecs(list []string) ([]refspec, error) {
	var out []refspec
	for _, text := range list {
		from, to, ok := strings.Cut(strings.TrimPrefix(text, "+"), ":")
		if !ok || from == "" || to == "" || strings.HasPrefix(text, "^") {
			return nil, fmt.Errorf("refspecs: %s is not honoured: a refspec has the form "+
				"+refs/heads/*:refs/remotes/origin/*", text)
		}
		if strings.Count(from, "*") > 1 || strings.Count(from, "*") != strings.Count(to, "*") {
			return nil, fmt.Errorf("refspecs: %s has no star, or one, on both sides", text)
		}
		out = append(out, refspec{from, to})
	}
	return out, nil
}

// local is the name under which a reference is kept.
func (s refspec) local(name string) (string, bool) { return swap(name, s.from, s.to) }

// swap replaces what a pattern says of a name.
func swap(name, from, to string) (string, bool) {
	before, after, star := strings.Cut(from, "*")
	if !star {
		return to, name == from
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(to, "*", name[len(before):len(name)-len(after)], 1), true
}

// validRef holds a name to the rules of git check-ref-format, and to text: the rest of it becomes the name of an
// environment.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 1024 || !utf8.ValidString(name) ||
		strings.Contains(name, "..") ||
		strings.Contains(name, "@{") || strings.Contains(name, "//") || strings.HasSuffix(name, "/") ||
		strings.HasSuffix(name, ".") ||
		strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, unicode.IsControl) {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
