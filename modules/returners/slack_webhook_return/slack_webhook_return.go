// Package slack_webhook_return is the returner slack_webhook: it posts messages to Slack by its incoming webhooks.
// Answers to salt/returners/slack_webhook_return.py.
package slack_webhook_return

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"brine/modules/host/web"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/options"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

const (
	returnerName = "slack_webhook"
	base         = "https://hooks.slack.com/services/"
)

// wanted is where the returner finds its options. Source: salt/returners/slack_webhook_return.py, _get_options.
var wanted = options.Lookup{Name: returnerName, Options: []string{"webhook", "success_title", "failure_title",
	"author_icon",
	"show_tasks"},
	Defaults: options.Values{"success_title": "{id} | Succeeded", "failure_title": "{id} | Failed", "author_icon": "",
		"show_tasks": false}}

// Module is the returner slack_webhook.
func Module() loader.Module {
	return loader.Module{File: "slack_webhook_return", Name: returnerName, Virtual: loader.Always,
		Funcs: func() []loader.Func {
			return []loader.Func{
				functions.Returner(returnerName, "Post the return to Slack.",
					func(c *loader.Call, ret *payload.Map) error { return post(c, ret, false) }),
				functions.EventReturn(returnerName, "Post the events that are returns of functions to Slack.",
					postEvents),
			}
		}}
}

func postEvents(c *loader.Call, events []any) error {
	var hopeless []error // of events that keep no other from being posted
	for _, e := range events {
		event, _ := e.(*payload.Map)
		ret := event.Map("data")
		if !ret.Has("fun") || strings.Contains(returners.Word(ret, "fun"), "saltutil.find_job") {
			continue
		}
		if err := post(c, ret, true); returners.Hopeless(err) {
			hopeless = append(hopeless, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(hopeless...)
}

// errorWord is what Slack says is wrong; other texts may be anybody's, and are not shown.
var errorWord = pattern.New(`^[a-z_]{1,60}$`)

// post posts one message. The address is a secret, and in no error.
// Unlike Salt: what Slack did not take is an error, so that it is tried again; and the data of an event, which any
// minion may have made, holds no options.
func post(c *loader.Call, ret *payload.Map, event bool) error {
	from := ret
	if event {
		from = nil
	}
	opt, err := wanted.Read(c, from)
	if err != nil {
		return err
	}
	base, _ := url.Parse(base)
	hook, err := url.Parse(opt.Text("webhook"))
	if err != nil || opt.Text("webhook") == "" {
		return returners.Misset("slack_webhook.webhook is not defined in the configuration, or is no path")
	}
	text, err := returners.Dump(returnerName, message(c, opt, ret, event))
	if err != nil {
		return err
	}
	client, err := webClient(c.Opts(), base.ResolveReference(hook).Hostname())
	if err != nil {
		return err
	}
	defer client.Close()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {"Salt http.query()"}}
	answer, err := client.Ask(c.Ctx, http.MethodPost, base.ResolveReference(hook).String(), header,
		[]byte("payload="+url.QueryEscape(text)))
	if err != nil {
		return fmt.Errorf("slack_webhook: %w", err)
	}
	said := string(answer.Body)
	switch {
	case answer.Status == http.StatusOK && said == "ok":
		return nil
	case !errorWord.MatchString(said):
		said = ""
	}
	err = fmt.Errorf("slack_webhook: the server answers %d %s %s", answer.Status, http.StatusText(answer.Status), said)
	if answer.Status == http.StatusBadRequest || answer.Status == http.StatusRequestEntityTooLarge {
		return &returners.Unusable{Err: err}
	}
	return err
}

// webClient is a client with the proxy that the options of a daemon tell (proxy_host and others). Source:
// salt/utils/http.py.
func webClient(opts *payload.Map, host string) (*web.Client, error) {
	o := web.Options{}
	if opts.Str("proxy_host") != "" && python.Truth(opts.Value("proxy_port")) && !slices.Contains(opts.List("no_proxy"),
		any(host)) {
		proxy := &url.URL{Scheme: "http", Host: opts.Str("proxy_host") + ":" + returners.Word(opts, "proxy_port")}
		if opts.Str("proxy_username") != "" && python.Truth(opts.Value("proxy_password")) {
			proxy.User = url.UserPassword(opts.Str("proxy_username"), returners.Word(opts, "proxy_password"))
		}
		o.Proxies = map[string]*url.URL{"http": proxy, "https": proxy}
	}
	return web.New(o)
}

// sprinkle puts grains in place of {NAME} (_sprinkle).
func sprinkle(c *loader.Call, text string) string {
	var parts []string
	for part := range strings.SplitSeq(text, "{") {
		parts = append(parts, strings.Split(part, "}")...)
	}
	for i := 1; i < len(parts); i += 2 {
		v, ok := c.Grain(parts[i])
		if parts[i] = ""; ok {
			parts[i] = python.Str(v)
		}
	}
	return strings.Join(parts, "")
}
