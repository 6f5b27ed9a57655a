package apiplay

import (
	"regexp"
	"slices"
	"strings"
)

// Stream turns the chunks or frames of an endless answer into lines. It changes only data that differs from run
// to run. A repeated value has the same number in all lines. "⏎" stands for a line end.
type Stream struct{ n *normal }

// NewStream makes a Stream. sent holds values of the request that may appear in the answer.
func NewStream(sent ...string) *Stream {
	n := &normal{names: map[string]string{}, count: map[string]int{}}
	for _, s := range sent {
		n.names[s] = "<SENT>"
	}
	return &Stream{n}
}

var (
	// keyFiles matches the files of a master's key, which are named after its host in 3008.
	keyFiles = regexp.MustCompile(`"[^"/\s]+\.(pem|pub)"`)
	// returned matches the time of a return, which 3008 gives beside _stamp.
	returned = regexp.MustCompile(`"ts": [0-9.]+`)
)

// Line returns the line for a chunk or a frame.
func (s *Stream) Line(text string) string {
	text = standIns(text)
	start := strings.IndexByte(text, '{')
	if start >= 0 {
		tree, err := parseJSON(text[start:])
		end := strings.TrimRight(text[start:], "\n")
		switch {
		case err != nil:
			text = "bad JSON (" + err.Error() + "): " + text
		case python(tree) != end:
			text = "not as Python writes it: " + text
		default:
			text = text[:start] + python(arrived(tree)) + text[start+len(end):]
		}
	}
	text = returned.ReplaceAllString(keyFiles.ReplaceAllString(text, `"<HOST>.$1"`), `"ts": <UNIX_FLOAT>`)
	return strings.ReplaceAll(s.n.text(text), "\n", "⏎")
}

// Recorded returns the lines of a recorded endless answer.
func (s *Step) Recorded(sent ...string) (lines []string) {
	stream := NewStream(sent...)
	if at := slices.Index(s.Raw, ""); at >= 0 {
		for i := at + 2; i < len(s.Raw); i += 2 { // a size stands before each chunk
			lines = append(lines, stream.Line(s.Raw[i]))
		}
	}
	for _, f := range s.Frames {
		lines = append(lines, stream.Line(f))
	}
	return lines
}

// arrived removes machine-dependent parts from a tree: the order in which minions answered, and their grains.
func arrived(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = arrived(e)
		}
		return out
	case object:
		if has(v, "osfullname") && has(v, "kernel") {
			return object{{"id", value(v, "id")}, {"<OTHER_GRAINS>", "..."}}
		}
		out := make(object, len(v))
		for i, m := range v {
			out[i] = member{m.key, arrived(m.value)}
		}
		if !slices.ContainsFunc(v, func(m member) bool { return !slices.Contains(Minions(), m.key) }) {
			slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.key, b.key) })
		}
		return out
	}
	return v
}
