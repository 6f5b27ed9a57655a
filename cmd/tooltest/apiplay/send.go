package apiplay

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Secret is the shared secret of every user of the tables.
const Secret = "sekrit"

// Player sends the requests of a table to one salt-api.
type Player struct {
	Base     string        // http://127.0.0.1:PORT
	Patience time.Duration // for one answer

	client   http.Client
	sessions map[string]string // session of each user, from /login
	tokens   map[string]string // token of each user, from /token
}

// NewPlayer makes a player for the server at base.
func NewPlayer(base string, patience time.Duration) *Player {
	return &Player{Base: base, Patience: patience, sessions: map[string]string{}, tokens: map[string]string{},
		client: http.Client{
			// the peer is a process of the test
			Transport: &http.Transport{DisableCompression: true,
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
}

// Close closes the connections.
func (p *Player) Close() { p.client.CloseIdleConnections() }

// Send sends a request and returns the normalized answer.
func (p *Player) Send(ctx context.Context, r Request) (Answer, error) {
	a, _, err := p.Exchange(ctx, r)
	return a, err
}

// Exchange is Send, and also returns the raw body. known are values in the request that may appear in the
// answer.
func (p *Player) Exchange(ctx context.Context, r Request, known ...string) (Answer, string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	req, sent, err := p.request(ctx, r)
	if err != nil {
		return Answer{}, "", fmt.Errorf("%s: %w", r.Name, err)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return Answer{}, "", fmt.Errorf("%s: %w", r.Name, err)
	}
	defer res.Body.Close()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		r.Stream = 0 // a refusal, which ends
	}
	body, err := readBody(res.Body, r.Stream)
	if err != nil {
		return Answer{}, "", fmt.Errorf("%s: %w", r.Name, err)
	}
	if res.Header.Get("Content-Encoding") == "gzip" {
		if body, err = unpacked(body); err != nil {
			return Answer{}, "", fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return Normal(r.Name, res.StatusCode, res.Header, body, append(sent, known...)...), body, nil
}

// unpacked decompresses a body. A missing body (HEAD) stays empty.
func unpacked(body string) (string, error) {
	if body == "" {
		return "", nil
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(z)
	return string(raw), err
}

func (p *Player) request(ctx context.Context, r Request) (req *http.Request, sent []string, err error) {
	fill := func(text string) string {
		var s []string
		text, s, err = p.fill(ctx, text, err)
		sent = append(sent, s...)
		return text
	}
	var body io.Reader
	if !r.NoBody {
		body = strings.NewReader(fill(r.Body))
	}
	req, reqErr := http.NewRequestWithContext(ctx, r.Method, p.Base+fill(r.Path), body)
	if reqErr != nil {
		return nil, nil, reqErr
	}
	req.Header.Set("User-Agent", "") // sends none
	for _, h := range r.Header {
		req.Header[http.CanonicalHeaderKey(h[0])] = append(req.Header[http.CanonicalHeaderKey(h[0])], fill(h[1]))
	}
	if r.As != "" {
		req.Header.Set("X-Auth-Token", fill("{session:"+r.As+"}"))
	}
	return req, sent, err
}

// fill replaces {session:USER} and {token:USER} in a text by sessions and tokens.
func (p *Player) fill(ctx context.Context, text string, before error) (string, []string, error) {
	var sent []string
	for _, kind := range []struct {
		name string
		get  func(context.Context, string) (string, error)
	}{{"session", p.Session}, {"token", p.Token}} {
		for before == nil {
			head, rest, ok := strings.Cut(text, "{"+kind.name+":")
			user, tail, closed := strings.Cut(rest, "}")
			if !ok || !closed {
				break
			}
			got, err := kind.get(ctx, user)
			if err != nil {
				return "", nil, err
			}
			sent = append(sent, got)
			text = head + got + tail
		}
	}
	return text, sent, before
}

// Session logs a user in, once, and returns the session.
func (p *Player) Session(ctx context.Context, user string) (string, error) {
	return p.once(ctx, p.sessions, user, "/login")
}

// Token lets the server make an eauth token for a user, once, and returns it.
func (p *Player) Token(ctx context.Context, user string) (string, error) {
	return p.once(ctx, p.tokens, user, "/token")
}

// Forget makes the next request of a user log in again.
func (p *Player) Forget(user string) { delete(p.sessions, user) }

func (p *Player) once(ctx context.Context, known map[string]string, user, path string) (string, error) {
	if s, ok := known[user]; ok {
		return s, nil
	}
	body := fmt.Sprintf(`{"username": %q, "password": %q, "eauth": "sharedsecret"}`, user, Secret)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Base+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := p.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(raw), `"token": "`)
	got, _, closed := strings.Cut(rest, `"`)
	if !found || !closed {
		return "", fmt.Errorf("%s of %s: %s: %s", path, user, res.Status, raw)
	}
	known[user] = got
	return got, nil
}

// readBody reads a body, or the given number of lines of an endless one.
func readBody(r io.Reader, lines int) (string, error) {
	if lines == 0 {
		raw, err := io.ReadAll(r)
		return string(raw), err
	}
	var b strings.Builder
	buf := bufio.NewReader(r)
	for range lines {
		line, err := buf.ReadString('\n')
		b.WriteString(line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return b.String(), err
		}
	}
	return b.String(), nil
}

// tarList lists the content of an archive: names, modes, times, and which files are empty.
func tarList(body string) string {
	t := tar.NewReader(strings.NewReader(body))
	var b strings.Builder
	fmt.Fprintf(&b, "tar of %d bytes:", len(body))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			return b.String() + " " + err.Error()
		}
		filled := "empty"
		if h.Size > 0 {
			filled = "filled"
		}
		fmt.Fprintf(&b, " %s %#o %d %s", h.Name, h.Mode, h.ModTime.Unix(), filled)
	}
}
