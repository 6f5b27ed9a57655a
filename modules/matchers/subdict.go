package matchers

import (
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// Mode is how a value is compared with a pattern; both are lower-cased first.
type Mode uint8

const (
	ModeGlob   Mode = iota // fnmatch
	ModeRegexp             // re.match
	ModeExact              // equal
)

// defaultDelimiter separates the levels of grain and pillar expressions.
const defaultDelimiter = ":"

// Subdict is a compiled expression like "os_family:Deb*" or "a:b:c:value": where the key ends and the value
// begins is tried from the longest key to the shortest. It is not safe for concurrent use.
type Subdict struct {
	expr      string
	delimiter string
	mode      Mode
	tries     []subdictTry
	words     map[string]*wordMatcher // compiled patterns
	nested    map[string]*Subdict     // compiled sub-expressions
	limit     *limit
}

type subdictTry struct {
	all  bool     // the key is "*": the whole data with the whole expression
	path []string // the key, level by level
	want string
}

// CompileSubdict reads an expression. Without a delimiter in it nothing matches (ok is false). Unlike Salt: nor does
// one of more than 512 levels or 256 KiB.
func CompileSubdict(expr, delimiter string, mode Mode) (s *Subdict, ok bool) {
	return compileSubdict(expr, delimiter, mode, nil)
}

func compileSubdict(expr, delimiter string, mode Mode, end *limit) (s *Subdict, ok bool) {
	if delimiter == "" {
		delimiter = defaultDelimiter
	}
	s = &Subdict{expr: expr, delimiter: delimiter, mode: mode, limit: end,
		words: map[string]*wordMatcher{}, nested: map[string]*Subdict{}}
	if len(expr) > payload.MaxPattern || strings.Count(expr, delimiter) > maxLevels {
		return s, false
	}
	parts := strings.Split(expr, delimiter)
	rest := len(expr) - len(parts[0])
	starts := make([]int, len(parts)) // of each part in expr
	for i := 1; i < len(parts); i++ {
		starts[i] = len(expr) - rest + len(delimiter)
		rest -= len(delimiter) + len(parts[i])
	}
	for i := len(parts) - 1; i > 0; i-- {
		t := subdictTry{path: parts[:i], want: expr[starts[i]:]}
		if i == 1 && parts[0] == "*" {
			t = subdictTry{all: true, want: expr}
		}
		s.tries = append(s.tries, t)
	}
	return s, len(parts) > 1
}

// topKeys are the keys of the data that Match looks at; nil when it may look at all of them.
func (s *Subdict) topKeys() []any {
	if len(s.tries) == 0 {
		return []any{} // matches nothing
	}
	if s.tries[len(s.tries)-1].all {
		return nil
	}
	word := s.tries[0].path[0]
	if key, ok := typedKey(word); ok {
		return []any{word, key}
	}
	return []any{word}
}

// Match tells whether data fits the expression. Source: salt/utils/data.py, subdict_match.
func (s *Subdict) Match(data any) bool {
	for _, t := range s.tries {
		if s.limit.over() {
			return false
		}
		value := data
		if !t.all {
			value = traverse(data, t.path)
		}
		if s.matchValue(value, t.want) {
			return true
		}
	}
	return false
}

func (s *Subdict) matchValue(value any, want string) bool {
	switch v := value.(type) {
	case missing:
		return false
	case *payload.Map:
		return v.Len() > 0 && s.matchMap(v, want)
	case []any:
		for _, member := range v {
			if m, ok := member.(*payload.Map); ok && s.matchMap(m, want) {
				return true
			}
			if s.matchWord(member, want) {
				return true
			}
		}
		return false
	}
	return s.matchWord(value, want)
}

// matchMap looks for want among the keys, then as an expression of its own, and with a leading "*:" one level
// further down.
func (s *Subdict) matchMap(m *payload.Map, want string) bool {
	if s.limit.over() {
		return false
	}
	want, wildcard := strings.CutPrefix(want, "*:")
	if want == "*" || m.Has(want) {
		return true
	}
	for k := range m.All() {
		if s.matchWord(k, want) {
			return true
		}
	}
	if sub := s.sub(want); sub != nil && sub.Match(m) {
		return true
	}
	if !wildcard {
		return false
	}
	for _, v := range m.All() {
		if s.matchBelow(v, want) {
			return true
		}
	}
	return false
}

func (s *Subdict) matchBelow(v any, want string) bool {
	switch x := v.(type) {
	case *payload.Map:
		return s.matchMap(x, want)
	case []any:
		for _, item := range x {
			if s.matchWord(item, want) {
				return true
			}
		}
		return false
	}
	return s.matchWord(v, want)
}

// sub is want as an expression of its own, which always has ":" for a delimiter; nil when it is none.
func (s *Subdict) sub(want string) *Subdict {
	sub, known := s.nested[want]
	if !known {
		if c, ok := compileSubdict(want, defaultDelimiter, s.mode, s.limit); ok {
			sub = c
		}
		s.nested[want] = sub
	}
	return sub
}

// wordMatcher compares one lower-cased text.
type wordMatcher struct {
	mode Mode
	text string
	glob *fnmatch.Pattern
	re   *re.Pattern // nil when the pattern is bad
}

func (s *Subdict) matchWord(value any, want string) bool {
	w := s.words[want]
	if s.limit.over() {
		return false
	}
	if w == nil {
		w = newWordMatcher(want, s.mode)
		s.words[want] = w
		s.limit.look()
	}
	text := strings.ToLower(python.Str(value))
	s.limit.weigh(w.work(text))
	hit, err := w.match(text)
	if err != nil {
		s.limit.failed(err)
	}
	return hit
}

func newWordMatcher(want string, mode Mode) *wordMatcher {
	w := &wordMatcher{mode: mode, text: strings.ToLower(want)}
	switch mode {
	case ModeGlob:
		w.glob = fnmatch.Compile(w.text)
	case ModeRegexp:
		w.re, _ = re.Compile(w.text) // a bad pattern matches nothing
	}
	return w
}

// work is how many steps a match takes at most.
func (w *wordMatcher) work(text string) int {
	switch {
	case w.mode == ModeGlob:
		return len(text) + w.glob.Work(text)
	case w.re != nil:
		return len(text) + w.re.Work(text)
	}
	return len(text)
}

func (w *wordMatcher) match(text string) (bool, error) {
	switch w.mode {
	case ModeGlob:
		if w.glob.Work(text) > maxGlobWork {
			return false, ErrTime
		}
		return w.glob.Match(text), nil
	case ModeRegexp:
		if w.re == nil {
			return false, nil
		}
		return w.re.Match(text)
	}
	return w.text == text, nil
}

// Traverse follows a path like "file_roots:base:0" through maps and lists (traverse_dict_and_list). delimiter ""
// is ":".
func Traverse(data any, path, delimiter string) (v any, ok bool) {
	if delimiter == "" {
		delimiter = defaultDelimiter
	}
	v = traverse(data, strings.Split(path, delimiter))
	_, none := v.(missing)
	if none {
		return nil, false
	}
	return v, true
}

// missing is what traverse finds where nothing is.
type missing struct{}

// traverse follows a path through maps and lists. A word leads into a list by its index, or into the first map
// in the list that has it. Source: salt/utils/data.py, traverse_dict_and_list.
func traverse(data any, path []string) any {
	for _, word := range path {
		switch d := data.(type) {
		case *payload.Map:
			v, ok := mapStep(d, word)
			if !ok {
				return missing{}
			}
			data = v
		case []any:
			v, ok := listStep(d, word)
			if !ok {
				return missing{}
			}
			data = v
		default:
			return missing{}
		}
	}
	return data
}

// mapStep looks a word up as it is, then as the value YAML reads in it.
func mapStep(m *payload.Map, word string) (any, bool) {
	if v, ok := m.Get(word); ok {
		return v, true
	}
	if key, ok := typedKey(word); ok {
		return m.Get(key)
	}
	return nil, false
}

func typedKey(word string) (any, bool) {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	if strings.Contains(word, ".") {
		if f, err := strconv.ParseFloat(word, 64); err == nil {
			return f, true
		}
	}
	switch strings.ToLower(word) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return nil, false
}

func listStep(list []any, word string) (any, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(word))
	var key any = word
	if err == nil {
		key = int64(n)
	}
	for _, member := range list {
		if m, ok := member.(*payload.Map); ok {
			if v, has := m.Get(key); has {
				return v, true
			}
		}
	}
	if err != nil {
		return nil, false
	}
	if n < 0 {
		n += len(list)
	}
	if n < 0 || n >= len(list) {
		return nil, false
	}
	return list[n], true
}
