package attack

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// stream opens the stream of events. The returned function reads its text up to the event with a tag.
func (a *api) stream(token string, header ...string) (until func(tag string) string) {
	a.s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	a.s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://127.0.0.1:%d/events", a.port), nil)
	if err != nil {
		a.s.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		a.s.t.Fatal(err)
	}
	a.s.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		a.s.t.Fatalf("a stream gives %s", resp.Status)
	}
	in := bufio.NewReader(resp.Body)
	return func(tag string) string {
		a.s.t.Helper()
		var text strings.Builder
		for {
			line, err := in.ReadString('\n')
			text.WriteString(line)
			if err != nil {
				a.s.t.Fatalf("no event %s: %v, after %s", tag, err, text.String())
			}
			if strings.HasPrefix(line, "data: ") && strings.HasSuffix(line, `"tag": "`+tag+"\"}\n") {
				return text.String()
			}
		}
	}
}

// TestAPIStreams: a user with few rights sees all events, as with Salt, but no credentials. No user can write
// lines into the streams of others. A reader cannot get old events again. A token in an address is refused, and
// is not in the log.
func TestAPIStreams(t *testing.T) {
	a := newAPI(t)
	fred, bob := a.logIn("", "fred"), a.logIn("", "bob")
	hook := func(path, body string) reply { return a.ask("", "POST", "/hook"+path, fred, body) }
	before := a.stream(bob)
	hook("/before", `{}`)
	before("salt/netapi/hook/before")
	until := a.stream(bob, "Last-Event-ID: 1")
	a.ask("", "POST", "/", fred, `[{"client": "local", "tgt": "honest", "fun": "test.echo", "arg": ["words of fred"]}]`)
	low := `{"client": "local", "tgt": "honest", "fun": "test.ping", ` + credentials("fred", "Op3nSesame")[1:]
	a.ask("", "POST", "/run", "", low)
	a.ask("", "POST", "/run", "", strings.Replace(low, `"local", "tgt": "honest", "fun": "test.ping"`,
		`"runner", "fun": "test.arg"`, 1))
	for _, path := range []string{"/a%0Adata:%20evil", "/a%0D%0A%0D%0Atag:%20evil", "/a%0Ddata:%20evil",
		"/%E2%80%A8data:%20evil", "/retry:%200"} {
		hook(path, `{"x": "\n\ndata: evil\r\rtag: evil\u2028data: evil"}`)
	}
	a.ask("", "POST", "/hook/form", fred, `{"\n\ntag: evil": "\r\ndata: evil"}`)
	a.ask("", "POST", "/", fred,
		`[{"client": "local", "tgt": "honest", "fun": "event.send", "arg": ["my/x\n\ndata: evil\r\ntag: evil"]}]`)
	hook("/end", `{}`)
	text := until("salt/netapi/hook/end")
	if strings.Contains(text, "hook/before") || !strings.Contains(text, "words of fred") {
		t.Errorf("the stream shows what was before it, or not what was done:\n%s", text)
	}
	for _, secret := range []string{fred, bob, "Op3nSesame"} {
		if strings.Contains(text, secret) {
			t.Errorf("a stream shows %q", secret)
		}
	}
	form := regexp.MustCompile(
		`^(?:(?:retry: 400\n)?tag: [^\r\n]+\ndata: \{"data": \{[^\r\n]*\}, "tag": "[^\r\n]+"\}\n\n)+$`)
	if !form.MatchString(strings.TrimRight(text, "\n") + "\n\n") {
		t.Errorf("lines of others are in the stream:\n%q", text)
	}
	for _, path := range []string{"/events?token=", "/events?salt_token=", "/ws/", "/ws?token="} {
		if r := a.ask("", "GET", path+fred, "", ""); r.status < 400 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	for _, secret := range []string{fred, bob} {
		if strings.Contains(a.s.logOf(a.daemon), secret) {
			t.Errorf("the log shows a session that came in an address")
		}
	}
	a.end()
}

// TestAPIHalfSockets: clients that open WebSockets and do not complete the handshake, or never say that they
// are ready, delay no other client, and leave nothing behind.
func TestAPIHalfSockets(t *testing.T) {
	a := newAPI(t)
	id := a.logIn("", "bob")
	const half = "GET /ws HTTP/1.1\r\nHost: x\r\nX-Auth-Token: %s\r\nConnection: Upgrade\r\nUpgrade: " +
		"websocket\r\nSec-WebSocket-Version: 13\r\n"
	var held []net.Conn
	for i := range 200 {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.66")}}).Dial("tcp",
			fmt.Sprintf("127.0.0.1:%d", a.port))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		text := fmt.Sprintf(half, id)
		if i%2 == 0 {
			text += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate; " +
				"client_max_window_bits\r\n\r\n"
		}
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || resp.StatusCode != http.StatusSwitchingProtocols ||
				resp.Header.Get("Sec-WebSocket-Extensions") != "" {
				t.Fatalf("a handshake gives %v, %v", resp, err)
			}
		}
	}
	until := a.stream(id)
	a.ask("", "POST", "/hook/on", id, `{}`)
	until("salt/netapi/hook/on")
	for _, c := range held {
		_ = c.Close()
	}
	a.s.eventually("the end of the sockets", func() error {
		n, err := a.sockets()
		if err == nil && n > 1 { // one is the stream
			err = fmt.Errorf("%d are open", n)
		}
		return err
	})
	a.end()
}
