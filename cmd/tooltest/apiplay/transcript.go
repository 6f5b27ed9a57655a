package apiplay

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Transcript is a recorded talk with a salt-api of Salt 3006 or 3007, from the vectors of spec/api.md.
type Transcript struct {
	Name, Netapi, Salt, About string
	Steps                     []Step
}

// Step is a request of a transcript with its answer. One of Want, Raw and Frames holds the answer.
type Step struct {
	Request
	Note   string
	Want   *Answer    // an answer with an end; its Name is TRANSCRIPT/NUMBER
	Raw    []string   // an endless answer: the lines of its head, an empty line, then sizes and chunks in turn
	Head   []string   // the head of an answer to a WebSocket request
	Frames []string   // the text frames from the server
	Says   []string   // the text frames from the client
	Result string     // anything else, in words
	shown  [][]string // the placeholders of the expected body, in order
}

type rawStep struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
		BodyJSON     json.RawMessage `json:"body_json"`
		Body         *string
		Says         []string `json:"websocket_messages_sent"`
	}
	Response *rawAnswer
	Raw      []string `json:"response_raw"`
	Head     []string `json:"response_head"`
	Frames   []struct{ Text string }
	Note     string
	Result   string
}

type rawAnswer struct {
	Status   int
	Headers  [][2]string
	BodyJSON json.RawMessage `json:"body_json"`
	Body     string
	Kind     string `json:"body_kind"`
	Heading  string `json:"body_heading"`
	Message  string `json:"body_message"`
	Members  []struct {
		Name, Mode string
		Mtime      int64
		Size       any
	} `json:"tar_members"`
	Length int `json:"tar_total_len"`
}

// ReadTranscripts reads all transcripts of a folder, sorted by name.
func ReadTranscripts(dir string) ([]*Transcript, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_*.json"))
	if err != nil {
		return nil, err
	}
	var all []*Transcript
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		t, err := parseTranscript(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, t)
	}
	return all, nil
}

func parseTranscript(raw []byte) (*Transcript, error) {
	var read struct {
		Name, Netapi, Salt, About string
		Steps                     []rawStep
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, err
	}
	t := &Transcript{Name: read.Name, Netapi: read.Netapi, Salt: read.Salt, About: read.About}
	for i, r := range read.Steps {
		s, err := r.step(fmt.Sprintf("%s/%d", read.Name, i+1))
		if err != nil {
			return nil, err
		}
		t.Steps = append(t.Steps, s)
	}
	return t, nil
}

func (r *rawStep) step(name string) (Step, error) {
	s := Step{Note: r.Note, Raw: r.Raw, Head: r.Head, Says: r.Request.Says, Result: r.Result}
	s.Request = Request{Name: name, Method: r.Request.Method, Path: r.Request.Path, NoBody: true}
	for _, key := range slices.Sorted(maps.Keys(r.Request.Headers)) {
		s.Header = append(s.Header, [2]string{key, r.Request.Headers[key]})
	}
	switch {
	case r.Request.BodyJSON != nil:
		tree, err := parseJSON(string(r.Request.BodyJSON))
		if err != nil {
			return s, err
		}
		s.Body, s.NoBody = python(tree), false
	case r.Request.Body != nil:
		s.Body, s.NoBody = *r.Request.Body, false
		if s.Body == "<1100000 bytes>" {
			s.Body = strings.Repeat("x", 1100000)
		}
	}
	for _, f := range r.Frames {
		s.Frames = append(s.Frames, f.Text)
	}
	if r.Response != nil {
		want, err := r.Response.answer(name, r.sent())
		if err != nil {
			return s, err
		}
		s.Want = &want
		s.shown = placeholder.FindAllStringSubmatch(r.Response.Body+string(r.Response.BodyJSON), -1)
	}
	return s, nil
}

// sent returns the stand-ins for the placeholders in a request.
func (r *rawStep) sent() []string {
	text := r.Request.Path
	for _, v := range r.Request.Headers {
		text += v
	}
	var sent []string
	for _, m := range placeholder.FindAllStringSubmatch(text+string(r.Request.BodyJSON), -1) {
		sent = append(sent, StandIn(m[1], m[2]))
	}
	return sent
}

// placeholder finds <SESSION_ID:1>, <SALT_TOKEN:1>, <JID:1>.
var placeholder = regexp.MustCompile(`<(SESSION_ID|SALT_TOKEN|JID)(?::(\d+))?>`)

// StandIn is a value of the kind of a placeholder that the server never issued.
func StandIn(kind, number string) string {
	switch kind {
	case "SESSION_ID":
		return fmt.Sprintf("%040s", number)
	case "SALT_TOKEN":
		return fmt.Sprintf("%064s", number)
	}
	return fmt.Sprintf("202001010000%08s", number)
}

func standIns(text string) string {
	text = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		return StandIn(m[1], m[2])
	})
	return strings.NewReplacer("<KEY_FINGERPRINT>", "<FINGERPRINT>", "<HTTP_DATE>",
		"Thu, 01 Jan 2026 00:00:00 GMT").Replace(text)
}

// answer normalizes a recorded answer.
func (a *rawAnswer) answer(name string, sent []string) (Answer, error) {
	h := http.Header{}
	for _, f := range a.Headers {
		h.Add(f[0], standIns(f[1]))
	}
	body := a.Body
	switch {
	case a.Kind == "server_html_error_page":
		body = "<h2>" + a.Heading + "</h2><p>" + a.Message + "</p> Powered by"
	case a.Body == "<HTML_FILE>":
		body = "<!doctype html>"
	case a.BodyJSON != nil:
		tree, err := parseJSON(string(a.BodyJSON))
		if err != nil {
			return Answer{}, err
		}
		body = python(tree)
	}
	got := Normal(name, a.Status, h, standIns(body), sent...)
	if a.Kind == "tar" {
		got.Body = fmt.Sprintf("tar of %d bytes:", a.Length)
		for _, m := range a.Members {
			filled := "filled"
			if m.Size == 0.0 {
				filled = "empty"
			}
			got.Body += fmt.Sprintf(" %s %s %d %s", m.Name, strings.Replace(m.Mode, "0o", "0", 1), m.Mtime, filled)
		}
	}
	return got, nil
}

// kinds are patterns for the values of placeholders.
var kinds = map[string]*regexp.Regexp{
	"SESSION_ID": regexp.MustCompile(`\b[0-9a-f]{40}\b`), "SALT_TOKEN": regexp.MustCompile(`\b[0-9a-f]{64}\b`),
	"JID": regexp.MustCompile(`\b20[2-9]\d{17}\b`),
}

// Values finds the values for the placeholders of a step's body in a real body.
func (s *Step) Values(body string) map[string]string {
	values := map[string]string{}
	for kind, pattern := range kinds {
		var names []string
		for _, m := range s.shown {
			if m[1] == kind && !slices.Contains(names, m[0]) {
				names = append(names, m[0])
			}
		}
		var found []string
		for _, v := range pattern.FindAllString(body, -1) {
			if !slices.Contains(found, v) {
				found = append(found, v)
			}
		}
		for i := range min(len(names), len(found)) {
			values[names[i]] = found[i]
		}
	}
	return values
}

// FillStep replaces the placeholders in a request's path, headers and body. It calls value for each
// placeholder.
func (s *Step) FillStep(value func(name, kind, number string) string) (r Request, sent []string) {
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(found string) string {
			m := placeholder.FindStringSubmatch(found)
			v := value(m[0], m[1], m[2])
			sent = append(sent, v)
			return v
		})
	}
	r = s.Request
	r.Path, r.Body = fill(r.Path), fill(r.Body)
	r.Header = slices.Clone(r.Header)
	for i := range r.Header {
		r.Header[i][1] = fill(r.Header[i][1])
	}
	return r, sent
}
