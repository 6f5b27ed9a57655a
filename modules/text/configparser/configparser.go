// Package configparser reads and writes INI files as Python's configparser does with its defaults: keys in small
// letters, a section DEFAULT that all others see, %(key)s inside of values, values over several lines. It answers to
// Lib/configparser.py of Python 3.11 and salt/serializers/configparser.py.
package configparser

import (
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Error is what Python raises: Text is str() of it.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

const (
	blanks   = " \t\n\r\v\f\x1c\x1d\x1e\x1f\u0085\u00a0"
	defaults = "DEFAULT"
	source   = "'<???>'" // what Python names a text that is no file
)

// Parse reads a text. It returns the sections in the order of the text, each a map from keys to texts; DEFAULT is none
// of them. Its errors are *Error.
func Parse(text string) (*payload.Map, error) {
	r := &reader{sections: map[string]*section{defaults: newSection()}, seen: map[[2]string]bool{}}
	if err := r.read(text); err != nil {
		return nil, err
	}
	out := payload.NewMap(len(r.order))
	for _, name := range r.order {
		values, err := r.items(name)
		if err != nil {
			return nil, err
		}
		out.Set(name, values)
	}
	return out, nil
}

// section holds the lines of each value.
type section struct {
	keys  []string
	lines map[string][]string
}

func newSection() *section { return &section{lines: map[string][]string{}} }

func (s *section) set(key, value string) {
	if _, ok := s.lines[key]; !ok {
		s.keys = append(s.keys, key)
	}
	s.lines[key] = []string{value}
}

func (s *section) value(key string) string {
	return strings.TrimRight(strings.Join(s.lines[key], "\n"), blanks)
}

type reader struct {
	sections map[string]*section
	order    []string           // without DEFAULT
	seen     map[[2]string]bool // sections, and keys of sections
	name     string             // of the section that is read
	in       *section           // nil before the first
	key      string             // that a line further to the right continues
	indent   int
	faults   strings.Builder // lines that are neither
	grown    int             // bytes that values took which name others
}

func (r *reader) read(text string) error {
	for i, line := range strings.SplitAfter(text, "\n") {
		if line == "" {
			break
		}
		if err := r.line(i+1, line); err != nil {
			return err
		}
	}
	if r.faults.Len() > 0 {
		return &Error{"Source contains parsing errors: " + source + r.faults.String()}
	}
	return nil
}

func (r *reader) line(number int, line string) error {
	value := strings.Trim(line, blanks)
	comment := value != "" && (value[0] == '#' || value[0] == ';')
	if value == "" || comment {
		if !comment && r.in != nil && r.key != "" {
			r.in.lines[r.key] = append(r.in.lines[r.key], "")
		}
		return nil
	}
	indent := len([]rune(line)) - len([]rune(strings.TrimLeft(line, blanks)))
	if r.in != nil && r.key != "" && indent > r.indent {
		r.in.lines[r.key] = append(r.in.lines[r.key], value)
		return nil
	}
	r.indent = indent
	if end := strings.LastIndexByte(value, ']'); value[0] == '[' && end > 1 {
		return r.open(number, value[1:end])
	}
	if r.in == nil {
		return fault("File contains no section headers.\nfile: %s, line: %d\n%s", source, number, python.Repr(line))
	}
	return r.option(number, line, value)
}

func (r *reader) open(number int, name string) error {
	if name != defaults {
		if r.seen[[2]string{name}] {
			return fault("While reading from %s [line %2d]: section %s already exists", source, number,
				python.Repr(name))
		}
		r.seen[[2]string{name}] = true
		r.sections[name] = newSection()
		r.order = append(r.order, name)
	}
	r.name, r.in, r.key = name, r.sections[name], ""
	return nil
}

func (r *reader) option(number int, line, value string) error {
	at := strings.IndexAny(value, "=:")
	if at < 0 {
		r.fault(number, line)
		return nil
	}
	key := strings.ToLower(strings.TrimRight(value[:at], blanks))
	if at == 0 {
		r.fault(number, line)
	}
	if r.seen[[2]string{r.name, "\x00" + key}] {
		return fault("While reading from %s [line %2d]: option %s in section %s already exists", source, number,
			python.Repr(key), python.Repr(r.name))
	}
	r.seen[[2]string{r.name, "\x00" + key}] = true
	r.in.set(key, strings.Trim(value[at+1:], blanks))
	r.key = key
	return nil
}

func (r *reader) fault(number int, line string) {
	r.faults.WriteString(fault("\n\t[line %2d]: %s", number, python.Repr(line)).Error())
}

// items are the keys of a section with those of DEFAULT before them.
func (r *reader) items(name string) (*payload.Map, error) {
	seen := r.values(name)
	out := payload.NewMap(seen.Len())
	for key, raw := range seen.All() {
		x := &expansion{section: name, option: key.(string), raw: raw.(string), values: seen, grown: &r.grown}
		if err := x.some(raw.(string), 1); err != nil {
			return nil, err
		}
		out.Set(key, x.out.String())
	}
	return out, nil
}

func (r *reader) values(name string) *payload.Map {
	out := payload.NewMap(0)
	for _, s := range []*section{r.sections[defaults], r.sections[name]} {
		for _, key := range s.keys {
			out.Set(key, s.value(key))
		}
	}
	return out
}

// reference is the name of another value inside of one.
var reference = pattern.New(`^%\(([^)]+)\)s`)

// maxDepth is how many values may lie in each other.
const maxDepth = 10

// maxGrown bounds what the values of a text may grow to that name others, in bytes. Python has no such bound.
const maxGrown = 16 << 20

// expansion puts other values into one.
type expansion struct {
	section, option, raw string
	values               *payload.Map
	grown                *int
	out                  strings.Builder
}

func (x *expansion) some(rest string, depth int) error {
	if depth > maxDepth {
		return fault("Recursion limit exceeded in value substitution: option %s in section %s contains an "+
			"interpolation key which cannot be substituted in %d steps. Raw value: %s",
			python.Repr(x.option), python.Repr(x.section), maxDepth, python.Repr(x.raw))
	}
	for rest != "" {
		at := strings.IndexByte(rest, '%')
		if at < 0 {
			at = len(rest)
		}
		x.out.WriteString(rest[:at])
		if err := x.grow(at); err != nil {
			return err
		}
		if rest = rest[at:]; rest == "" {
			break
		}
		var err error
		if rest, err = x.percent(rest, depth); err != nil {
			return err
		}
	}
	return nil
}

// percent handles the % at the start of rest and returns what stands behind.
func (x *expansion) percent(rest string, depth int) (string, error) {
	if strings.HasPrefix(rest, "%%") {
		x.out.WriteByte('%')
		return rest[2:], nil
	}
	if !strings.HasPrefix(rest, "%(") {
		return "", fault("'%%' must be followed by '%%' or '(', found: %s", python.Repr(rest))
	}
	m := reference.FindStringSubmatch(rest)
	if m == nil {
		return "", fault("bad interpolation variable reference %s", python.Repr(rest))
	}
	name := strings.ToLower(m[1])
	value, ok := x.values.Get(name)
	if !ok {
		return "", fault("Bad value substitution: option %s in section %s contains an interpolation key %s which is "+
			"not a valid option name. Raw value: %s",
			python.Repr(x.option), python.Repr(x.section), python.Repr(name), python.Repr(x.raw))
	}
	rest = rest[len(m[0]):]
	if !strings.Contains(value.(string), "%") {
		x.out.WriteString(value.(string))
		return rest, x.grow(len(value.(string)))
	}
	return rest, x.some(value.(string), depth+1)
}

func (x *expansion) grow(n int) error {
	if *x.grown += n; *x.grown > maxGrown {
		return fault("the values of the text take more than %d bytes", maxGrown)
	}
	return nil
}
