package re

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// fromPython rewrites a pattern of Python's re into the common ground of the two engines of Go. It refuses the
// escapes and repeats Python refuses, which the engines would read in some other way. ascii tells that (?a) asks
// for classes of ASCII characters only.
func fromPython(pattern string) (translated string, ascii bool, err error) {
	t, err := translate(pattern)
	if err != nil {
		return "", false, err
	}
	return t.out.String(), t.ascii, nil
}

func translate(pattern string) (*translator, error) {
	t := &translator{in: pattern, names: map[string]int{}}
	for t.pos < len(t.in) {
		if err := t.next(); err != nil {
			return nil, err
		}
	}
	if t.inSet {
		return nil, errors.New("unterminated character set")
	}
	return t, nil
}

// maxRepeat is the longest text that repeats what stands before it, in bytes. Looking no further keeps the work on a
// pattern that is full of beginnings of such texts in proportion to its length.
const maxRepeat = 64

type translator struct {
	in     string
	pos    int
	out    strings.Builder
	inSet  bool
	first  bool // at the first character of a set
	anchor bool // behind something that takes no characters, which cannot be repeated
	ascii  bool // (?a)
	groups int
	names  map[string]int // of groups
}

// once compiles an expression of Go at its first use.
func once(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// repeat matches what repeats the item before it.
var repeat = once(`^(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})`)

// badRange matches a range in a set that begins or ends with a class.
var badRange = once(`^(?:\\[dDsSwW]-[^\]]|[^\\]-\\[dDsSwW])`)

func (t *translator) next() error {
	rest := t.in[t.pos:]
	near := rest[:min(len(rest), maxRepeat)]
	if t.anchor && repeat().MatchString(near) {
		return errors.New("nothing to repeat")
	}
	if t.inSet && (t.first || rest[0] != ']') && badRange().MatchString(near) {
		return errors.New("bad character range")
	}
	t.anchor = !t.inSet && (rest[0] == '^' || rest[0] == '$' ||
		len(rest) > 1 && rest[0] == '\\' && strings.IndexByte("bBAZ", rest[1]) >= 0)
	switch c := rest[0]; {
	case c == '\\':
		return t.escape()
	case t.inSet:
		t.setChar(c)
	case c == '[':
		t.openSet(rest)
	case strings.HasPrefix(rest, "(?"):
		return t.group(rest)
	case c == '(':
		t.groups++
		t.copy(1)
	case strings.HasPrefix(rest, "{,"):
		t.openRepeat(rest)
	default:
		t.copy(1)
	}
	return nil
}

// copy takes n bytes over as they are.
func (t *translator) copy(n int) {
	t.out.WriteString(t.in[t.pos : t.pos+n])
	t.pos += n
	t.first = false
}

// put writes text in place of n bytes.
func (t *translator) put(n int, text string) {
	t.out.WriteString(text)
	t.pos += n
	t.first = false
}

func (t *translator) openSet(rest string) {
	t.inSet = true
	n := 1
	if strings.HasPrefix(rest, "[^") {
		n = 2
	}
	t.copy(n)
	t.first = true
}

func (t *translator) setChar(c byte) {
	switch {
	case c == ']' && t.first:
		t.put(1, `\]`)
	case c == ']':
		t.inSet = false
		t.copy(1)
	case c == '[':
		t.put(1, `\[`) // no POSIX classes, no subtraction
	default:
		t.copy(1)
	}
}

// openRepeat writes {,n} as {0,n}; {,} and the like are plain text.
func (t *translator) openRepeat(rest string) {
	end := strings.IndexByte(rest[:min(len(rest), maxRepeat)], '}')
	if end < 0 {
		t.put(1, `\{`)
		return
	}
	digits := rest[2:end]
	if strings.Trim(digits, "0123456789") != "" {
		t.put(1, `\{`)
		return
	}
	t.put(end+1, "{0,"+digits+"}")
}

// group handles what follows "(?".
func (t *translator) group(rest string) error {
	switch {
	case strings.HasPrefix(rest, "(?P<"):
		return t.named(rest)
	case strings.HasPrefix(rest, "(?P="):
		return t.reference(rest, "(?P=", `(?:\%d)`)
	case strings.HasPrefix(rest, "(?("):
		return t.reference(rest, "(?(", "(?(%d)")
	case strings.HasPrefix(rest, "(?#"):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return errors.New("missing ), unterminated comment")
		}
		t.put(end+1, "")
	case strings.HasPrefix(rest, "(?<") && !strings.HasPrefix(rest, "(?<=") && !strings.HasPrefix(rest, "(?<!"):
		return errors.New("unknown extension ?<")
	default:
		return t.flags(rest)
	}
	return nil
}

// named gives a group its number: the engines number groups with names in other ways than Python.
func (t *translator) named(rest string) error {
	name, _, closed := strings.Cut(rest[len("(?P<"):], ">")
	switch {
	case !closed:
		return errors.New("missing >, unterminated name")
	case t.names[name] > 0:
		return fmt.Errorf("redefinition of group name %q", name)
	}
	t.groups++
	t.names[name] = t.groups
	t.put(len("(?P<>")+len(name), "(")
	return nil
}

// reference writes what refers to a group by its number.
func (t *translator) reference(rest, open, form string) error {
	name, _, closed := strings.Cut(rest[len(open):], ")")
	if !closed {
		return errors.New("missing ), unterminated name")
	}
	number, known := t.names[name]
	if !known {
		n, err := strconv.Atoi(name)
		if err != nil || open == "(?P=" {
			return fmt.Errorf("unknown group name %q", name)
		}
		number = n
	}
	t.put(len(open)+len(name)+1, fmt.Sprintf(form, number))
	return nil
}

// flags checks "(?aiLmsux)" and "(?i-s:": Python takes flags for the whole pattern only at its very start, and
// the letters a and u mean nothing to the engines.
func (t *translator) flags(rest string) error {
	end := 2
	for end < len(rest) && strings.IndexByte("aiLmsux-", rest[end]) >= 0 {
		end++
	}
	if end == 2 || end == len(rest) {
		t.copy(2)
		return nil
	}
	if strings.IndexByte(rest[2:end], 'L') >= 0 {
		return errors.New("bad inline flags: cannot use 'L' flag with a str pattern")
	}
	t.ascii = t.ascii || strings.IndexByte(rest[2:end], 'a') >= 0
	letters := strings.Map(func(r rune) rune {
		if r == 'a' || r == 'u' {
			return -1
		}
		return r
	}, rest[2:end])
	if rest[end] == ')' {
		if t.pos != 0 {
			return errors.New("global flags not at the start of the expression")
		}
		if letters == "" {
			t.put(end+1, "")
			return nil
		}
	}
	t.put(end, "(?"+letters)
	return nil
}

// escape handles a backslash and what it escapes.
func (t *translator) escape() error {
	if t.pos+1 >= len(t.in) {
		return errors.New("bad escape (end of pattern)")
	}
	rest := t.in[t.pos:]
	switch c := rest[1]; {
	case c == 'u', c == 'U', c == 'x':
		return t.hexEscape(rest)
	case t.inSet && c == 'b':
		t.put(2, `\x08`)
	case !t.inSet && c == 'Z':
		t.put(2, `\z`)
	case strings.IndexByte("afnrtvdDsSwW0123456789", c) >= 0, !t.inSet && strings.IndexByte("AbB", c) >= 0:
		t.copy(2)
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return fmt.Errorf(`bad escape \%c`, c)
	default:
		_, size := utf8.DecodeRuneInString(rest[1:])
		t.put(1+size, quoteRune(rest[1:1+size]))
	}
	return nil
}

// quoteRune keeps the backslash where a character needs one.
func quoteRune(s string) string {
	if strings.Contains("\\.+*?()|[]{}^$-#& ~/", s) {
		return `\` + s
	}
	return s
}

// hexEscape turns \xHH, \uHHHH and \UHHHHHHHH into the character.
func (t *translator) hexEscape(rest string) error {
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[1]]
	if len(rest) < 2+n {
		return fmt.Errorf(`incomplete escape %s`, rest)
	}
	code, err := strconv.ParseUint(rest[2:2+n], 16, 32)
	if err != nil || code > utf8.MaxRune {
		return fmt.Errorf(`incomplete escape %s`, rest[:2+n])
	}
	if code < 0x80 {
		t.put(2+n, fmt.Sprintf(`\x%02x`, code))
		return nil
	}
	t.put(2+n, string(rune(code)))
	return nil
}
