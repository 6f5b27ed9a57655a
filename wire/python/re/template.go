package re

import (
	"fmt"
	"strconv"
	"strings"
)

// Template is what takes the place of a text in re.sub.
type Template struct{ parts []part }

// part is a text, or what a group took (group >= 0).
type part struct {
	text  string
	group int
}

// Literal is a template without a meaning of backslashes.
func Literal(text string) *Template { return &Template{[]part{{text, -1}}} }

// TemplateError says what is wrong with a template, in Python's words.
type TemplateError struct{ Text string }

func (e *TemplateError) Error() string { return e.Text }

func wrongTemplate(at int, format string, a ...any) error {
	return &TemplateError{fmt.Sprintf(format, a...) + fmt.Sprintf(" at position %d", at)}
}

// Template reads what takes the place of what the pattern fits.
func (e *Edit) Template(text string) (*Template, error) {
	t := &Template{}
	for text := (&cursor{s: text}); text.at < len(text.s); {
		next := strings.IndexByte(text.s[text.at:], '\\')
		if next < 0 {
			t.literal(text.s[text.at:])
			break
		}
		t.literal(text.s[text.at : text.at+next])
		text.at += next
		if err := t.escape(e, text); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Template) literal(s string) {
	if s != "" {
		t.parts = append(t.parts, part{s, -1})
	}
}

func (t *Template) write(b *strings.Builder, f Found) {
	for _, p := range t.parts {
		if p.group < 0 {
			b.WriteString(p.text)
			continue
		}
		took, _ := f.Group(p.group)
		b.WriteString(took)
	}
}

type cursor struct {
	s  string
	at int
}

// digits takes up to n digits below limit.
func (c *cursor) digits(n int, limit byte) string {
	start := c.at
	for c.at < len(c.s) && c.at-start < n && c.s[c.at] >= '0' && c.s[c.at] < limit {
		c.at++
	}
	return c.s[start:c.at]
}

// controls are the escapes that stand for one character.
var controls = map[byte]string{'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '\\': `\`}

func (t *Template) escape(e *Edit, text *cursor) error {
	start := text.at
	if start+1 == len(text.s) {
		return wrongTemplate(start, "bad escape (end of pattern)")
	}
	c := text.s[start+1]
	text.at += 2
	switch {
	case c == 'g':
		return t.byName(e, text)
	case c == '0':
		code, _ := strconv.ParseUint("0"+text.digits(2, '8'), 8, 16)
		t.literal(string(rune(code & 0xff)))
	case c >= '1' && c <= '9':
		return t.byNumber(e, text)
	case controls[c] != "":
		t.literal(controls[c])
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return wrongTemplate(start, `bad escape \%c`, c)
	default:
		text.at--
		t.literal(`\`)
		t.literal(text.s[text.at : text.at+1])
		text.at++
	}
	return nil
}

// byNumber reads \1 to \99, or three octal digits.
func (t *Template) byNumber(e *Edit, text *cursor) error {
	start := text.at - 1
	text.at = start
	digits := text.digits(2, '9'+1)
	if len(digits) == 2 && digits[0] < '8' && digits[1] < '8' {
		if third := text.digits(1, '8'); third != "" {
			code, _ := strconv.ParseUint(digits+third, 8, 16)
			if code > 0o377 {
				return wrongTemplate(start-1, `octal escape value \%s outside of range 0-0o377`, digits+third)
			}
			t.literal(string(rune(code)))
			return nil
		}
	}
	n, _ := strconv.Atoi(digits)
	return t.group(e, n, start)
}

func (t *Template) group(e *Edit, n, at int) error {
	if n > e.groups {
		return wrongTemplate(at, "invalid group reference %d", n)
	}
	t.parts = append(t.parts, part{"", n})
	return nil
}

// byName reads \g<name> or \g<number>.
func (t *Template) byName(e *Edit, text *cursor) error {
	if !strings.HasPrefix(text.s[text.at:], "<") {
		return wrongTemplate(text.at, "missing <")
	}
	at := text.at + 1
	name, _, closed := strings.Cut(text.s[at:], ">")
	switch {
	case !closed && name == "":
		return wrongTemplate(at, "missing group name")
	case !closed:
		return wrongTemplate(at, "missing >, unterminated name")
	case name == "":
		return wrongTemplate(at, "missing group name")
	}
	text.at = at + len(name) + 1
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return t.group(e, n, at)
	}
	if n, known := e.names[name]; known {
		return t.group(e, n, at)
	}
	if !identifier(name) {
		return wrongTemplate(at, "bad character in group name %s", quoted(name))
	}
	return &TemplateError{"unknown group name " + quoted(name)}
}

func quoted(name string) string { return "'" + name + "'" }

func identifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// special are the characters that re.escape puts a backslash before.
const special = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f"

// Escape is re.escape.
func Escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
