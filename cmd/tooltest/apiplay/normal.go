package apiplay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// compared lists the headers that are kept. The others tell the server's name, the time of the answer, or the
// encoding of the bytes.
func compared() []string {
	return []string{"Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
		"Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
		"Access-Control-Max-Age", "Allow", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Type",
		"Location", "Set-Cookie", "Vary", "Www-Authenticate", "X-Auth-Token"}
}

// Minions are the ids of minions whose answers may be in any order in a reply.
func Minions() []string { return []string{"m1", "m2", "zz"} }

// normal makes the placeholders of one answer. A repeated value gets the same number. A value from the request
// becomes "sent".
type normal struct {
	names map[string]string // placeholder of each value
	count map[string]int    // number of values of each kind
}

// Normal normalizes an answer. sent holds values of the request that may appear in the answer: session ids,
// tokens.
func Normal(name string, status int, header http.Header, body string, sent ...string) Answer {
	n := &normal{names: map[string]string{}, count: map[string]int{}}
	for _, s := range sent {
		n.names[s] = "<SENT>"
	}
	a := Answer{Name: name, Status: status}
	for _, h := range compared() {
		if h == "Vary" && status >= 500 {
			continue // some of Salt's crashes lose it
		}
		for _, v := range header.Values(h) {
			a.Header = append(a.Header, h+": "+n.headerValue(h, v))
		}
	}
	a.Body = n.body(header, body)
	return a
}

func (n *normal) headerValue(name, value string) string {
	if name != "Set-Cookie" {
		return n.text(value)
	}
	parts := strings.Split(value, ";")
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if strings.HasPrefix(strings.ToLower(p), "expires=") {
			p = "expires=<HTTP_DATE>"
		}
		parts[i] = n.text(p)
	}
	slices.Sort(parts[1:]) // the attributes of a cookie have no order
	return strings.Join(parts, "; ")
}

var (
	htmlHeading = regexp.MustCompile(`(?s)<h2>(.*?)</h2>\s*<p>(.*?)</p>`)
	volatiles   = []struct {
		kind     string
		pattern  *regexp.Regexp
		numbered bool
	}{
		{"TOKEN", regexp.MustCompile(`\b[0-9a-f]{64}\b`), true},
		{"SESSION", regexp.MustCompile(`\b[0-9a-f]{40}\b`), true},
		{"JID", regexp.MustCompile(`\b20[2-9]\d{17}\b`), true},
		{"FINGERPRINT", regexp.MustCompile(`\b(?:[0-9a-f]{2}:){15,}[0-9a-f]{2}\b`), false},
		{"ISO_STAMP", regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00)?`), false},
		{"JOB_TIME", regexp.MustCompile(`\b\d{4}, [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\.\d{6}`), false},
		{"UNIX_FLOAT", regexp.MustCompile(`\b1[789]\d{8}\.\d+\b`), false},
		{"PEM", regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----\n?`), false},
		{"HOST:PORT", regexp.MustCompile(`\b(?:127\.0\.0\.1|localhost):\d{4,5}\b`), false},
		{"N", regexp.MustCompile(`(?:HTTPServer )\d+`), false},
		{"HOST", regexp.MustCompile(`^[^/\s]+\.(?:pem|pub)$`), false},
	}
	traceback = regexp.MustCompile(`(?s)(Traceback \(most recent call last\):\n).*\n(\S[^\n]*)\n?$`)
	invalid   = regexp.MustCompile(`(?s)(Passed invalid arguments to [^\n]*\n).*`)
	usage     = regexp.MustCompile(`(?s)(\n\nUsage:\n).*`)
	long      = regexp.MustCompile(`x{200,}`)
	address   = regexp.MustCompile(` at 0x[0-9a-f]+`)
)

// text replaces the parts of a text that change from run to run.
func (n *normal) text(s string) string {
	for value, name := range n.names {
		if value != "" && name == "<SENT>" {
			s = strings.ReplaceAll(s, value, name)
		}
	}
	for _, v := range volatiles {
		s = v.pattern.ReplaceAllStringFunc(s, func(found string) string {
			switch v.kind {
			case "N":
				return "HTTPServer <N>"
			case "HOST": // the files of a key are named after the host
				return "<HOST>" + found[len(found)-4:]
			}
			if !v.numbered {
				return "<" + v.kind + ">"
			}
			if _, ok := n.names[found]; !ok {
				n.count[v.kind]++
				n.names[found] = fmt.Sprintf("<%s:%d>", v.kind, n.count[v.kind])
			}
			return n.names[found]
		})
	}
	s = long.ReplaceAllStringFunc(s, func(found string) string { return fmt.Sprintf("{x*%d}", len(found)) })
	s = traceback.ReplaceAllString(s, "$1<TRACEBACK_LINES>\n$2")
	return address.ReplaceAllString(usage.ReplaceAllString(invalid.ReplaceAllString(s, "$1<FUNCTION_DOCSTRING>"),
		"$1<FUNCTION_DOCSTRING>"), "")
}

// body makes one line from a body, by its kind: an error page, JSON, or text.
func (n *normal) body(header http.Header, body string) string {
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	switch {
	case body == "":
		return ""
	case kind == "text/html" && strings.Contains(body, "<h2>"):
		if m := htmlHeading.FindStringSubmatch(body); m != nil {
			return "error page: " + n.text(unescaped(strings.TrimSpace(m[1]))) + ": " + n.text(
				unescaped(strings.TrimSpace(m[2])))
		}
		return "<HTML_FILE>"
	case kind == "text/html" && strings.Contains(strings.ToLower(body), "<!doctype"):
		return "<HTML_FILE>"
	case kind == "application/json":
		tree, err := parseJSON(body)
		if err != nil {
			return fmt.Sprintf("bad JSON (%v): %s", err, strconv.Quote(body))
		}
		var style string
		if python(tree) != strings.TrimSuffix(body, "\n") {
			style = "not as Python writes it: "
		}
		return style + python(n.tree(tree))
	case kind == "application/x-tar":
		return tarList(body)
	}
	return strconv.Quote(n.text(body))
}

func unescaped(s string) string {
	return strings.NewReplacer("&#x27;", "'", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">",
		"&amp;", "&").Replace(s)
}

// tree replaces the parts of a JSON tree that change from run to run: texts, and whole objects that depend on
// the machine.
func (n *normal) tree(v any) any {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case json.Number:
		if f, err := v.Float64(); err == nil && f > 1.6e9 && f < 2e9 {
			return "<UNIX_FLOAT>"
		}
		return v
	case []any:
		return n.list(v)
	case object:
		return n.object(v)
	}
	return v
}

func (n *normal) list(v []any) any {
	out := make([]any, len(v))
	ids := true
	for i, e := range v {
		out[i] = n.tree(e)
		s, ok := e.(string)
		ids = ids && ok && slices.Contains(Minions(), s)
	}
	if ids || oneEach(out) {
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(python(a), python(b)) })
	}
	return out
}

// oneEach tells whether a list holds the same answer of several minions, each in its own element, as batches
// give them.
func oneEach(list []any) bool {
	var ids []string
	for _, e := range list {
		o, ok := e.(object)
		first, _ := list[0].(object)
		if !ok || len(o) != 1 || !slices.Contains(Minions(), o[0].key) || slices.Contains(ids, o[0].key) ||
			python(o[0].value) != python(first[0].value) {
			return false
		}
		ids = append(ids, o[0].key)
	}
	return len(ids) > 1
}

func (n *normal) object(v object) any {
	if has(v, "__run_num__") && has(v, "start_time") { // the result of a state
		v = slices.Clone(v)
		for i, m := range v {
			if m.key == "start_time" || m.key == "duration" {
				v[i].value = "<" + strings.ToUpper(m.key) + ">"
			}
		}
	}
	if has(v, "osfullname") && has(v, "kernel") || has(v, "<OTHER_GRAINS>") {
		return object{{"id", value(v, "id")}, {"<OTHER_GRAINS>", "..."}}
	}
	if len(v) > 0 && !slices.ContainsFunc(v, func(m member) bool { return !jobKey.MatchString(m.key) }) {
		job, _ := v[0].value.(object)
		var keys []any
		for _, m := range job {
			keys = append(keys, m.key)
		}
		return object{{"<JID>", keys}}
	}
	out := make(object, len(v))
	for i, m := range v {
		out[i] = member{n.text(m.key), n.tree(m.value)}
		if strings.HasPrefix(m.key, "Cheroot HTTPServer") || m.key == "CherryPy Applications" {
			out[i].value = "<...>"
		}
	}
	slices.SortStableFunc(out, func(a, b member) int { return late(a.key) - late(b.key) })
	if !slices.ContainsFunc(v, func(m member) bool { return !slices.Contains(Minions(), m.key) }) {
		slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.key, b.key) })
	}
	return out
}

// late sorts the keys that the bus adds to an event behind the other keys, because their order would depend on
// who added them first.
func late(key string) int {
	return slices.Index([]string{"_stamp", "ts"}, key) + 1
}

var jobKey = regexp.MustCompile(`^(?:\d{20}|<JID:\d+>)$`)

func has(o object, key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

func value(o object, key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}
