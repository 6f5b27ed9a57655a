package auth

import (
	"regexp"
	"strings"
	"sync"

	"brine/wire/payload"

	"github.com/dlclark/regexp2"
)

const maxPatterns = 1024 // compiled lines that are kept

// matcher is one compiled line of a rule file.
type matcher func(id string) bool

// patterns keeps compiled lines, for a file of many is read at every sign-in of a storm.
type patterns struct {
	mu    sync.Mutex
	lines map[string]matcher
}

// match tells whether a line matches an id: as the id itself, as a glob, or as a regular expression over the
// whole id. Source: salt/utils/stringutils.py, expr_match.
func (p *patterns) match(line, id string) bool {
	if line == id {
		return true
	}
	if len(id) > payload.MaxID {
		return false
	}
	if !strings.ContainsAny(line, `*?[]+\(){}|^$`) {
		return matchDots(line, id)
	}
	return p.compiled(line)(id)
}

// matchDots matches a line whose only special character is the dot of regular expressions.
func matchDots(line, id string) bool {
	runes := []rune(id)
	i := 0
	for _, c := range line {
		if i >= len(runes) || (c != runes[i] && (c != '.' || runes[i] == '\n')) {
			return false
		}
		i++
	}
	return i == len(runes)
}

func (p *patterns) compiled(line string) matcher {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.lines[line]; ok {
		return m
	}
	if p.lines == nil || len(p.lines) >= maxPatterns {
		p.lines = map[string]matcher{}
	}
	glob, expr := compileGlob(line), compileExpr(line)
	m := func(id string) bool { return glob(id) || expr(id) }
	p.lines[line] = m
	return m
}

func never(string) bool { return false }

// compileExpr compiles a regular expression that must match all of an id. What Go's engine does not know
// (look-around) is left to one that does; what neither knows never matches, as in Salt.
// Unlike Salt: alternatives are anchored as a whole, so that "web|db" does not let "webmail" in.
func compileExpr(line string) matcher {
	anchored := `\A(?:` + strings.ReplaceAll(line, `\Z`, `\z`) + `)\z`
	if re, err := regexp.Compile(anchored); err == nil {
		return re.MatchString
	}
	re, err := regexp2.Compile(anchored, regexp2.None)
	if err != nil {
		return never
	}
	return func(id string) bool {
		ok, err := re.MatchString(id)
		return ok && err == nil
	}
}

// compileGlob compiles a shell pattern as Python's fnmatch reads it: * ? [seq] [!seq], an unclosed bracket
// stands for itself, and no character is special to *.
func compileGlob(line string) matcher {
	var expr strings.Builder
	expr.WriteString(`\A(?s:`)
	for rest := line; rest != ""; {
		var part string
		part, rest = globPart(rest)
		expr.WriteString(part)
	}
	expr.WriteString(`)\z`)
	re, err := regexp.Compile(expr.String())
	if err != nil {
		return never
	}
	return re.MatchString
}

// globPart translates the first element of a pattern and returns what follows it.
func globPart(s string) (expr, rest string) {
	switch s[0] {
	case '*':
		return ".*", s[1:]
	case '?':
		return ".", s[1:]
	case '[':
		if seq, rest, ok := globSet(s[1:]); ok {
			return seq, rest
		}
	}
	n := strings.IndexAny(s[1:], "*?[") + 1
	if n == 0 {
		n = len(s)
	}
	return regexp.QuoteMeta(s[:n]), s[n:]
}

// globSet translates what follows an opening bracket.
func globSet(s string) (expr, rest string, ok bool) {
	start := 0
	if strings.HasPrefix(s, "!") {
		start = 1
	}
	end := -1
	if start < len(s) { // the first character may be the bracket itself
		end = strings.IndexByte(s[start+1:], ']')
	}
	if end < 0 {
		return "", "", false
	}
	set := s[start : start+1+end]
	set = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`, `~`, `\~`).Replace(set)
	if start == 1 {
		set = "^" + set
	}
	return "[" + set + "]", s[start+1+end+1:], true
}
