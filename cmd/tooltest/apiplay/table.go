package apiplay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Request is one line of a table of requests.
type Request struct {
	Name   string
	Method string
	Path   string
	As     string      // the user whose session goes into X-Auth-Token; "" for none
	Header [][2]string // as sent
	Body   string
	NoBody bool // neither body nor Content-Length
	Stream int  // number of lines to read from an endless answer; 0: the answer ends by itself
}

// bodyTypes maps the words that begin the line of a body to values of Content-Type. "body" adds no
// Content-Type.
func bodyTypes() map[string]string {
	return map[string]string{"json": "application/json", "form": "application/x-www-form-urlencoded",
		"yaml": "application/x-yaml", "text": "text/plain", "body": ""}
}

// ParseRequests reads a table of requests. A block begins with "NAME: METHOD PATH [as USER]". Then follow
// headers ("Accept: text/html"), "stream N", and at last the body: "json TEXT", "form TEXT", "yaml TEXT", "text
// TEXT" or "body TEXT". Lines that begin with a tab continue the body. "\n" in a yaml body is a line end. "#"
// begins a remark.
func ParseRequests(text string) ([]Request, error) {
	var list []Request
	for n, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			r, err := parseHead(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			if slices.ContainsFunc(list, func(o Request) bool { return o.Name == r.Name }) {
				return nil, fmt.Errorf("line %d: %s stands twice", n+1, r.Name)
			}
			list = append(list, r)
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("line %d: nothing to belong to", n+1)
		}
		if err := list[len(list)-1].parseLine(strings.TrimPrefix(line, "  ")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return list, nil
}

func parseHead(line string) (r Request, err error) {
	name, rest, ok := strings.Cut(line, ": ")
	words := strings.Fields(rest)
	if !ok || len(words) != 2 && (len(words) != 4 || words[2] != "as") {
		return r, fmt.Errorf("%q is no NAME: METHOD PATH [as USER]", line)
	}
	r = Request{Name: name, Method: words[0], Path: words[1], NoBody: true}
	if len(words) == 4 {
		r.As = words[3]
	}
	return r, nil
}

func (r *Request) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if kind, ok := bodyTypes()[word]; ok {
		if kind != "" && !slices.ContainsFunc(r.Header, func(h [2]string) bool { return h[0] == "Content-Type" }) {
			r.Header = append(r.Header, [2]string{"Content-Type", kind})
		}
		if kind == "application/x-yaml" {
			rest = strings.ReplaceAll(rest, `\n`, "\n")
		}
		r.Body, r.NoBody = repeated(rest), false
		return nil
	}
	if word == "stream" {
		n, err := strconv.Atoi(rest)
		r.Stream = n
		return err
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%q is neither a header nor a body", line)
	}
	r.Header = append(r.Header, [2]string{name, strings.TrimSpace(value)})
	return nil
}

// repeated replaces "{x*N}" by N times x, for long bodies.
func repeated(body string) string {
	before, rest, ok := strings.Cut(body, "{x*")
	number, after, closed := strings.Cut(rest, "}")
	n, err := strconv.Atoi(number)
	if !ok || !closed || err != nil {
		return body
	}
	return before + strings.Repeat("x", n) + after
}

// Answer is a normalized answer.
type Answer struct {
	Name   string
	Why    string // why brine differs from Salt; "" in the answers of Salt
	Status int
	Header []string // "Name: value", sorted
	Body   string   // one line; of an endless answer, a line for each chunk or frame
}

// String writes the block of an answer.
func (a Answer) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d\n", a.Name, a.Status)
	if a.Why != "" {
		fmt.Fprintf(&b, "  why %s\n", a.Why)
	}
	for _, h := range a.Header {
		fmt.Fprintf(&b, "  %s\n", h)
	}
	if a.Body != "" {
		for line := range strings.SplitSeq(a.Body, "\n") {
			fmt.Fprintf(&b, "  = %s\n", line)
		}
	}
	return b.String()
}

// Same tells whether two answers are equal for a client.
func (a Answer) Same(b Answer) bool {
	return a.Status == b.Status && a.Body == b.Body && slices.Equal(a.Header, b.Header)
}

// ParseAnswers reads a table of answers: blocks of "NAME: STATUS", then "why TEXT", headers, and the body with
// "= " before each line, as String writes them.
func ParseAnswers(text string) (map[string]Answer, error) {
	all := map[string]Answer{}
	var last string
	for n, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			name, status, _ := strings.Cut(line, ": ")
			code, err := strconv.Atoi(status)
			if _, twice := all[name]; err != nil || twice {
				return nil, fmt.Errorf("line %d: %q is no NAME: STATUS, or stands twice", n+1, line)
			}
			last = name
			all[last] = Answer{Name: name, Status: code}
			continue
		}
		a := all[last]
		line = strings.TrimPrefix(line, "  ")
		if why, ok := strings.CutPrefix(line, "why "); ok {
			a.Why = why
		} else if body, ok := strings.CutPrefix(line, "= "); ok {
			if a.Body != "" {
				body = a.Body + "\n" + body
			}
			a.Body = body
		} else {
			a.Header = append(a.Header, line)
		}
		all[last] = a
	}
	return all, nil
}
