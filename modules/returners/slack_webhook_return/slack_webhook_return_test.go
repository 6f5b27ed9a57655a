package slack_webhook_return

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// cases gives, for each return under two sets of options and for a list of events, what is posted: path, body and
// the headers that matter; "error" where the returner failed.
func cases(t *testing.T, r *returnertest.Recorder, call func(opts *payload.Map, fun string, arg any) error) []any {
	var out []any
	note := func(err error) {
		var posts []any
		for _, a := range r.Take() {
			form, failed := url.ParseQuery(a.Body)
			posts = append(posts, payload.M("asked", a.Method+" "+a.Path, "payload", form.Get("payload"), "raw", a.Body,
				"type", a.Header.Get("Content-Type"), "ok", failed == nil))
		}
		row := payload.M("posts", posts)
		if err != nil {
			row.Set("error", true)
		}
		out = append(out, row)
	}
	plain := payload.M("slack_webhook.webhook", r.URL+"/services/T0/B0/secret", "grains",
		payload.M("id", "web1", "localhost", "host1"))
	full := payload.M("slack_webhook", payload.M("webhook", r.URL+"/services/T1/B1/other", "success_title",
		"[{id}] ok {none} {id", "failure_title", "}{id}{",
		"author_icon", "https://icon.invalid/i.png", "show_tasks", true), "grains", payload.M("id", "web1", "localhost",
		"host1"))
	for _, opts := range []*payload.Map{plain, full} {
		for _, ret := range returnertest.Shared(t, "returns.json").([]any) {
			note(call(opts, "slack_webhook.returner", ret))
		}
	}
	note(call(plain, "slack_webhook.event_return", []any{
		payload.M("tag", "salt/job/1/ret/web2", "data", payload.M("id", "web2", "fun", "test.ping", "jid", "1",
			"return", true, "retcode", int64(0), "tag", "x")),
		payload.M("tag", "salt/job/2/ret/web2", "data", payload.M("id", "web2", "fun", "test.echo", "jid", "2",
			"return", []any{"a", nil}, "retcode", int64(3), "tag", "x")),
	}))
	return out
}

func answer(returnertest.Asked) (int, string) { return http.StatusOK, "ok" }

// onBrine calls brine's returner with the grains of the options.
func onBrine(t *testing.T) func(opts *payload.Map, fun string, arg any) error {
	return func(opts *payload.Map, fun string, arg any) error {
		s := brine(t, opts)
		s.Env.Grains = func() *payload.Map { return opts.Map("grains") }
		_, err := s.Try(fun, arg)
		return err
	}
}

// brine posts to Slack byte for byte what Salt posts.
func TestSlack(t *testing.T) {
	r := returnertest.NewRecorder(t, answer)
	returnertest.Same(t, returnertest.File(t, "slack.json").([]any), cases(t, r, onBrine(t)), 15)
}

// Events that are no returns, or are looks at jobs, are not posted.
func TestSlackEvents(t *testing.T) {
	r := returnertest.NewRecorder(t, answer)
	opts := payload.M("slack_webhook.webhook", r.URL+"/x")
	err := onBrine(t)(opts, "slack_webhook.event_return", []any{
		payload.M("tag", "salt/auth", "data", payload.M("act", "accept", "id", "web1")), payload.M("tag", "a", "data",
			payload.NewMap(0)), payload.M("tag", "b"), "c",
		payload.M("tag", "salt/job/1/ret/a", "data", payload.M("id", "a", "fun", "saltutil.find_job", "jid", "1",
			"return", payload.NewMap(0)))})
	if seen := r.Take(); err != nil || len(seen) != 0 {
		t.Errorf("posted %v, %v", seen, err)
	}
}

// The data of an event says where nothing goes.
func TestSlackEventOptions(t *testing.T) {
	r, evil := returnertest.NewRecorder(t, answer), returnertest.NewRecorder(t, answer)
	opts := payload.M("slack_webhook.webhook", r.URL+"/x", "other.slack_webhook.webhook", evil.URL)
	err := onBrine(t)(opts, "slack_webhook.event_return",
		[]any{payload.M("tag", "a", "data", returnertest.Ret().Set("ret_kwargs", payload.M("webhook", evil.URL)).
			Set("ret_config", "other"))})
	if own, others := len(r.Take()), len(evil.Take()); err != nil || own != 1 || others != 0 {
		t.Errorf("%d posts to the webhook of the options, %d to that of the event, %v", own, others, err)
	}
}

// What Slack refuses is tried again, but for messages that it cannot take. The address of the webhook is in no error, a
// redirect is not followed.
func TestSlackRefused(t *testing.T) {
	for _, tt := range []struct {
		status   int
		body     string
		hopeless bool
		shown    string
	}{
		{http.StatusNotFound, "no_service", false, "no_service"},
		{http.StatusTooManyRequests, "", false, "429"},
		{http.StatusOK, "<html>secret</html>", false, "200"},
		{http.StatusBadRequest, "invalid_payload", true, "invalid_payload"},
		{http.StatusFound, "/inside", false, "302"},
		{http.StatusInternalServerError, "secret/echoed", false, "500"},
	} {
		r := returnertest.NewRecorder(t, func(returnertest.Asked) (int, string) { return tt.status, tt.body })
		err := onBrine(t)(payload.M("slack_webhook.webhook", r.URL+"/services/secret"), "slack_webhook.returner",
			returnertest.Ret())
		if err == nil || returners.Hopeless(err) != tt.hopeless || !strings.Contains(err.Error(), tt.shown) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %s: got %v, hopeless %t", tt.status, tt.body, err, returners.Hopeless(err))
		}
		if n := len(r.Take()); n != 1 {
			t.Errorf("%d %s: %d requests, want 1", tt.status, tt.body, n)
		}
	}
	for _, hook := range []any{nil, "", ":secret", "http://\x7fsecret", "http://127.0.0.1:1/secret"} {
		err := onBrine(t)(payload.M("slack_webhook.webhook", hook), "slack_webhook.returner", returnertest.Ret())
		if err == nil || returners.Hopeless(err) || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("webhook %q: got %v, hopeless %t", hook, err, returners.Hopeless(err))
		}
	}
}

// The proxy of the options is used, unless no_proxy names the host.
func TestSlackProxy(t *testing.T) {
	proxy := returnertest.NewRecorder(t, answer)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	opts := payload.M("slack_webhook.webhook", "http://far.invalid/x", "proxy_host", at.Hostname(), "proxy_port",
		at.Port(), "proxy_username", "u", "proxy_password", "p")
	if err := onBrine(t)(opts, "slack_webhook.returner", returnertest.Ret()); err != nil {
		t.Fatal(err)
	}
	if seen := proxy.Take(); len(seen) != 1 || seen[0].Host != "far.invalid" ||
		seen[0].Header.Get("Proxy-Authorization") != "Basic dTpw" {
		t.Errorf("the proxy saw %v", seen)
	}
	if err := onBrine(t)(opts.Set("no_proxy", []any{"far.invalid"}), "slack_webhook.returner",
		returnertest.Ret()); err == nil ||
		len(proxy.Take()) != 0 {
		t.Errorf("with no_proxy: %v, and the proxy was asked", err)
	}
}

// brine is the returner with options of a minion.
func brine(t *testing.T, opts *payload.Map) *returnertest.Store {
	t.Helper()
	return returnertest.New(t, opts, Module())
}
