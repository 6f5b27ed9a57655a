package apiplay

import (
	"regexp"
	"slices"
	"strings"
)

// Stream makes lines of what comes in an endless answer, a chunk or a frame each, byte by byte but for what changes
// from run to run: a value that came twice has the same number in all of them. "⏎" is the end of a line.
type Stream struct{ n *normal }

// NewStream makes one. sent holds what of the request may come back.
func NewStream(sent ...string) *Stream {
	n := &normal{names: map[string]string{}, count: map[string]int{}}
	for _, s := range sent {
		n.names[s] = "<SENT>"
	}
	return &Stream{n}
}

var (
	// keyFiles are the files of a master's key, which have the name of its host in 3008.
	keyFiles = regexp.MustCompile(`"[^"/\s]+\.(pem|pub)"`)
	// returned is when a return came, which 3008 tells beside _stamp.
	returned = regexp.MustCompile(`"ts": [0-9.]+`)
)

// Line is the line of a chunk or a frame.
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

// Recorded are the lines of what a transcript has of an endless answer.
func (s *Step) Recorded(sent ...string) (lines []string) {
	stream := NewStream(sent...)
	if at := slices.Index(s.Raw, ""); at >= 0 {
		for i := at + 2; i < len(s.Raw); i += 2 { // behind the size of each
			lines = append(lines, stream.Line(s.Raw[i]))
		}
	}
	for _, f := range s.Frames {
		lines = append(lines, stream.Line(f))
	}
	return lines
}

// arrived takes out of a tree what is a matter of the machine: the order in which minions have answered, and their
// grains.
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
