// Package smtp_return is the returner smtp: it sends returns and events by mail. Answers to
// salt/returners/smtp_return.py.
package smtp_return

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// wanted is where the returner finds its options. Source: salt/returners/smtp_return.py, _get_options. verify_ssl
// is brine's.
var wanted = options.Lookup{Name: "smtp", Options: []string{"from", "to", "host", "port", "username", "password",
	"subject", "gpgowner", "fields", "tls", "renderer", "template", "verify_ssl"}}

// configuredOnly are options that only the configuration gives, or whoever may run a function and names this returner
// reads any file of the minion.
var configuredOnly = []string{"template", "renderer", "gpgowner", "verify_ssl"}

// limits bound a template.
var limits = jinja.Limits{Steps: 5_000_000, Memory: 256 << 20, Output: 64 << 20}

const (
	defaultSubject = "Email from Salt"
	defaultBody    = "id: {{id}}\r\nfunction: {{fun}}\r\nfunction args: {{fun_args}}\r\njid: {{jid}}\r\nreturn: " +
		"{{return}}\r\n"
	gpgPatience = time.Minute
)

// Module is the returner smtp.
func Module(o returners.Options) loader.Module {
	m := mails{home: o.Home}
	if m.home == nil {
		m.home = program.Home
	}
	return loader.Module{File: "smtp_return", Name: "smtp", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			functions.Returner("smtp", "Send the return by mail.", m.take),
			functions.EventReturn("smtp", "Send the data of events by mail. What they hold is no option of the mail.",
				m.takeEvents),
			functions.PrepJID(),
		}
	}}
}

// mails sends them; home finds the home directory of a user.
type mails struct{ home func(user string) string }

func (m mails) take(c *loader.Call, ret *payload.Map) error {
	opt, err := wanted.Read(c, ret)
	if err != nil {
		return err
	}
	own, err := wanted.Configured(c, ret)
	if err == nil {
		err = wanted.Guard(c, ret, "host", "port", "tls")
	}
	if err != nil {
		return err
	}
	for _, name := range configuredOnly {
		if delete(opt, name); own[name] != nil {
			opt[name] = own[name]
		}
	}
	return send(c, opt, ret, m.home)
}

func (m mails) takeEvents(c *loader.Call, events []any) error {
	opt, err := wanted.Read(c, nil)
	if err != nil {
		return err
	}
	var hopeless []error // of events that keep no other from being sent
	for _, e := range events {
		event, _ := e.(*payload.Map)
		data := event.Map("data")
		if data.Len() == 0 {
			continue
		}
		if err := send(c, opt, data, m.home); returners.Hopeless(err) {
			hopeless = append(hopeless, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(hopeless...)
}

// send renders one mail and sends it.
//
// Unlike Salt: the fields of the subject are values and no part of its template; a subject has one line; what is not to
// be sent in clear is not sent where gpg is missing; texts that are not ASCII have their headers, where Salt fails.
func send(c *loader.Call, opt options.Values, ret *payload.Map, home func(string) string) error {
	m, err := mailTo(opt)
	if err != nil {
		return err
	}
	subject := opt.Text("subject")
	if subject == "" {
		subject = defaultSubject
	}
	if subject, err = render(c, opt, renderers.Input{Template: renderers.InString, Data: subject,
		KW: ret}); err != nil {
		return err
	}
	if fields := opt.Text("fields"); fields != "" {
		for field := range strings.SplitSeq(fields, ",") {
			if v, ok := ret.Get(field); ok {
				subject += " " + python.Str(v)
			}
		}
	}
	in := renderers.Input{Template: opt.Text("template"), KW: ret}
	if in.Template == "" {
		in.Template, in.Data, in.KW = renderers.InString, defaultBody, payload.M("id", "", "fun", "", "fun_args", "",
			"jid", "", "return", "")
		in.KW.Update(ret) // events have not all of them
	}
	body, err := render(c, opt, in)
	if err != nil {
		return err
	}
	if owner := opt.Text("gpgowner"); owner != "" {
		if body, err = gpgEncrypt(c.Ctx, home(owner)+"/.gnupg", m.to, body); err != nil {
			return err
		}
	}
	return m.send(c.Ctx, m.compose(subject, body, time.Now()))
}

// render renders a template of the operator's with the fields of a return as its names; it calls no functions.
func render(c *loader.Call, opt options.Values, in renderers.Input) (string, error) {
	opts := c.Opts()
	set := renderers.New(renderers.Options{
		Jinja: renderers.Jinja{Opts: opts, Grains: c.Grains, Pillar: c.Pillar, Limits: limits,
			Has: func(string) bool {
				return false
			}},
		Blacklist: loader.StringList(opts.Value("renderer_blacklist")),
		Whitelist: loader.StringList(opts.Value("renderer_whitelist")),
		Disabled:  loader.StringList(opts.Value("disable_renders")), Log: func(level slog.Level, text string) {
			c.Log(level, text)
		}})
	pipe := opt.Text("renderer")
	if pipe == "" {
		pipe = "jinja"
	}
	v, err := set.Compile(c.Ctx, pipe, in)
	if err != nil {
		return "", &returners.Unusable{Err: err}
	}
	return python.Str(v), nil
}

// gpgEncrypt encrypts a text for the recipients of a mail. When that fails the mail says so, as Salt's does.
func gpgEncrypt(ctx context.Context, keys string, to []string, text string) (string, error) {
	argv := []string{"gpg", "--homedir", keys, "--batch", "--no-tty", "--no-autostart", "--trust-model", "always",
		"--armor", "--encrypt"}
	for _, address := range to {
		argv = append(argv, "--recipient", address)
	}
	ran, err := program.Run(ctx, program.Spec{Argv: argv, Input: &text, Timeout: gpgPatience})
	switch {
	case err != nil:
		return "", err
	case ran.TimedOut:
		return "", context.DeadlineExceeded
	case ran.Code != 0:
		return "Encryption failed, the return data was not sent.\r\n\r\n" + string(ran.Stderr), nil
	}
	return string(ran.Stdout), nil
}
