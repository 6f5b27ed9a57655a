package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"brine/cmd/tooltest/apiplay"
)

// streamPatience bounds the total time for the events of a stream.
const streamPatience = 2 * time.Minute

// stream plays a step whose answer does not end: an event stream or a WebSocket. It causes the events of the
// recording again, one after another, and compares every chunk or frame with the recorded one.
func (k *talk) stream(step *apiplay.Step, r apiplay.Request, sent []string) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), streamPatience)
	defer cancel()
	head, origin := step.Raw, ""
	if step.Head != nil {
		head = step.Head
		if !strings.Contains(step.Note, "without upgrade") {
			origin = "http://localhost" // as in the recording
		}
		if k.tr.Netapi == "rest_tornado" {
			origin = apiplay.OwnOrigin
		}
	}
	w, err := apiplay.Dial(ctx, k.player.Base, r, origin, sent...)
	if err != nil {
		k.t.Error(err)
		return
	}
	defer w.Close()
	var stand []string
	_, _ = step.FillStep(func(_, kind, number string) string {
		stand = append(stand, apiplay.StandIn(kind, number))
		return ""
	})
	recorded := step.Recorded(stand...)
	want := apiplay.HeadOf(step.Name, head, stand...)
	got := w.Head
	if got.Status < 300 {
		want.Body = strings.Join(recorded, "\n")
		got.Body = strings.Join(k.lines(step, w, apiplay.NewStream(sent...)), "\n")
	}
	k.hold(step, got, want)
}

// lines returns everything that arrives.
func (k *talk) lines(step *apiplay.Step, w *apiplay.Raw, form *apiplay.Stream) (all []string) {
	k.t.Helper()
	l := &listener{k: k, next: w.Chunk}
	switch {
	case step.Raw != nil:
		l.until("^retry: ", 1)
	case k.tr.Netapi == "rest_cherrypy":
		l.next = w.Frame
		for _, text := range step.Says {
			if err := w.Say(text); err != nil {
				k.t.Error(err)
			}
			l.until("^server received message$", 1) // the server is ready only now
		}
	default:
		l.next = w.Frame
		l.readyAtTornado(step, w)
	}
	for _, c := range k.causes(step) {
		k.post(step, c)
		l.until(c.last, c.times)
	}
	for _, text := range l.got {
		all = append(all, form.Line(text))
	}
	return all
}

// cause is a request that leads to events. last matches the last of them.
type cause struct {
	path, kind, body string
	last             string
	times            int
}

// causes returns the causes that belong to a step.
func (k *talk) causes(step *apiplay.Step) []cause {
	const json = "application/json"
	ping := cause{"/", json, `[{"client": "local", "tgt": "m1", "fun": "test.ping"}]`, `"salt/job/\d+/ret/m1"\}\s*$`, 1}
	switch {
	case len(step.Frames) == 0 && !slices.ContainsFunc(step.Raw, func(line string) bool {
		return strings.Contains(line, "data: ")
	}):
		return nil
	case strings.Contains(step.Path, "format"):
		ping.last = `"fun": "test.ping", "tgt": "m1", "tgt_type": "glob", "state": "complete"\}\}\}\s*$`
	}
	if k.topic != "events_sse" {
		return []cause{ping}
	}
	return []cause{
		ping,
		{"/hook/my/tag", json, `{"foo": "Foo!"}`, `"salt/netapi/hook/my/tag"\}\s*$`, 1},
		{"/hook", "application/x-www-form-urlencoded", "a=b&c=1", `"salt/netapi/hook"\}\s*$`, 1},
		{"/hook/nobody", "", "", `"salt/netapi/hook/nobody"\}\s*$`, 1},
		{"/hook/txt", "text/plain", "plain words", `"salt/netapi/hook/txt"\}\s*$`, 1},
		{"/hook/q", json, "[1, 2]", `"salt/netapi/hook/q"\}\s*$`, 1},
		{"/", json, `[{"client": "wheel", "fun": "key.list_all"}]`, `"salt/wheel/\d+/ret"\}\s*$`, 1},
		{"/", json, `[{"client": "runner_async", "fun": "test.arg", "foo": "bar"}]`, `"salt/run/\d+/ret"\}\s*$`, 1},
	}
}

// post sends the request of a cause.
func (k *talk) post(step *apiplay.Step, c cause) {
	k.t.Helper()
	r := apiplay.Request{Name: step.Name, Method: "POST", Path: c.path, Body: c.body, NoBody: c.body == "",
		Header: [][2]string{{"X-Auth-Token", k.value("<SESSION_ID:1>", "SESSION_ID", "1")}}}
	if c.kind != "" {
		r.Header = append(r.Header, [2]string{"Content-Type", c.kind})
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), streamPatience)
	defer cancel()
	w, err := apiplay.Dial(ctx, k.player.Base, r, "") // without the headers that the recorded request lacks
	if err != nil {
		k.t.Error(err)
		return
	}
	defer w.Close()
	if w.Head.Status != 200 {
		k.t.Errorf("%s %s: %v", c.path, c.body, w.Head)
	}
}

// listener reads a stream.
type listener struct {
	k    *talk
	next func() (string, error)
	got  []string
	lost bool
}

// until reads until times texts match a pattern.
func (l *listener) until(pattern string, times int) {
	l.k.t.Helper()
	last := regexp.MustCompile(pattern)
	for times > 0 && !l.lost {
		text, err := l.next()
		if err != nil {
			l.lost = true
			l.k.t.Errorf("no %d of %s: %v, after\n%s", times, pattern, err, strings.Join(l.got, "\n"))
			return
		}
		if l.got = append(l.got, text); last.MatchString(text) {
			times--
		}
	}
}

// readyAtTornado says that the client is ready. A reader of summaries then gets the grains of all minions. The
// listener keeps the first of these summaries and counts the others.
func (l *listener) readyAtTornado(step *apiplay.Step, w *apiplay.Raw) {
	l.k.t.Helper()
	for _, text := range step.Says {
		if err := w.Say(text); err != nil {
			l.k.t.Error(err)
		}
	}
	before, err := w.Pong()
	if l.got = before; err != nil {
		l.k.t.Error(err)
	}
	if !strings.Contains(step.Path, "formatted") {
		return
	}
	const grains = `{"minions": `
	missing := len(l.k.site.minions)
	for _, text := range before {
		if strings.HasPrefix(text, grains) {
			missing--
		}
	}
	if l.until("^"+regexp.QuoteMeta(grains), missing); len(l.got) > 0 {
		l.got = l.got[:1]
	}
}
