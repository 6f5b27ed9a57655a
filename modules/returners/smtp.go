package returners

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
	"brine/wire/payload"
	"brine/wire/python"
)

// smtpOptions is where the returner finds its options. Source: salt/returners/smtp_return.py, _get_options. verify_ssl
// is brine's.
var smtpOptions = lookup{name: "smtp", options: []string{"from", "to", "host", "port", "username", "password",
	"subject", "gpgowner", "fields", "tls", "renderer", "template", "verify_ssl"}}

// smtpOwn are options that only the configuration gives, or whoever may run a function and names this returner reads
// any file of the minion.
var smtpOwn = []string{"template", "renderer", "gpgowner", "verify_ssl"}

// smtpLimits bound a template.
var smtpLimits = jinja.Limits{Steps: 5_000_000, Memory: 256 << 20, Output: 64 << 20}

const (
	smtpSubject = "Email from Salt"
	smtpBody    = "id: {{id}}\r\nfunction: {{fun}}\r\nfunction args: {{fun_args}}\r\njid: {{jid}}\r\nreturn: " +
		"{{return}}\r\n"
	gpgPatience = time.Minute
)

// smtpFunctions send mails. home finds the home directory of a user.
func smtpFunctions(home func(user string) string) []loader.Func {
	const name = "smtp"
	return []loader.Func{
		taker(name, `Send the return by mail.

CLI Example:

    salt '*' test.ping --return smtp`, func(c *loader.Call, ret *payload.Map) error {
			opt, err := smtpOptions.read(c, ret)
			if err != nil {
				return err
			}
			own, err := smtpOptions.configured(c, ret)
			if err == nil {
				err = smtpOptions.guard(c, ret, "host", "port", "tls")
			}
			if err != nil {
				return err
			}
			for _, name := range smtpOwn {
				if delete(opt, name); own[name] != nil {
					opt[name] = own[name]
				}
			}
			return smtpSend(c, opt, ret, home)
		}),
		listener(name, `Send the data of events by mail. What they hold is no option of the mail.`,
			func(c *loader.Call, events []any) error {
				opt, err := smtpOptions.read(c, nil)
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
					if err := smtpSend(c, opt, data, home); Hopeless(err) {
						hopeless = append(hopeless, err)
					} else if err != nil {
						return err
					}
				}
				return errors.Join(hopeless...)
			}),
		jidMaker(name),
	}
}

// smtpSend renders one mail and sends it.
//
// Unlike Salt: the fields of the subject are values and no part of its template; a subject has one line; what is not to
// be sent in clear is not sent where gpg is missing; texts that are not ASCII have their headers, where Salt fails.
func smtpSend(c *loader.Call, opt settings, ret *payload.Map, home func(string) string) error {
	m, err := mailTo(opt)
	if err != nil {
		return err
	}
	subject := opt.text("subject")
	if subject == "" {
		subject = smtpSubject
	}
	if subject, err = smtpRender(c, opt, renderers.Input{Template: renderers.InString, Data: subject,
		KW: ret}); err != nil {
		return err
	}
	if fields := opt.text("fields"); fields != "" {
		for field := range strings.SplitSeq(fields, ",") {
			if v, ok := ret.Get(field); ok {
				subject += " " + python.Str(v)
			}
		}
	}
	in := renderers.Input{Template: opt.text("template"), KW: ret}
	if in.Template == "" {
		in.Template, in.Data, in.KW = renderers.InString, smtpBody, payload.M("id", "", "fun", "", "fun_args", "",
			"jid", "", "return", "")
		in.KW.Update(ret) // events have not all of them
	}
	body, err := smtpRender(c, opt, in)
	if err != nil {
		return err
	}
	if owner := opt.text("gpgowner"); owner != "" {
		if body, err = gpgEncrypt(c.Ctx, home(owner)+"/.gnupg", m.to, body); err != nil {
			return err
		}
	}
	return m.send(c.Ctx, m.compose(subject, body, time.Now()))
}

// smtpRender renders a template of the operator's with the fields of a return as its names; it calls no functions.
func smtpRender(c *loader.Call, opt settings, in renderers.Input) (string, error) {
	opts := c.Opts()
	set := renderers.New(renderers.Options{
		Jinja: renderers.Jinja{Opts: opts, Grains: c.Grains, Pillar: c.Pillar, Limits: smtpLimits,
			Has: func(string) bool {
				return false
			}},
		Blacklist: loader.StringList(opts.Value("renderer_blacklist")),
		Whitelist: loader.StringList(opts.Value("renderer_whitelist")),
		Disabled:  loader.StringList(opts.Value("disable_renders")), Log: func(level slog.Level, text string) {
			c.Log(level, text)
		}})
	pipe := opt.text("renderer")
	if pipe == "" {
		pipe = "jinja"
	}
	v, err := set.Compile(c.Ctx, pipe, in)
	if err != nil {
		return "", &Unusable{err}
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
