// Package httpmod holds the execution functions of the module http: questions to web servers (modules/host/webquery,
// which has the options). It answers to salt/modules/http.py.
package httpmod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/host/webquery"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Functions lists the functions of the module.
func Functions() []loader.Func {
	url := loader.Req("url")
	all := []loader.Func{
		{Name: "http.query", Params: []loader.Param{url}, KWArgs: true,
			Run: func(c *loader.Call, a loader.Args) (any, error) {
				return query(c, a.Get("url"), a.KW)
			}, Doc: `Ask a web server, and decode what it answers.

CLI Example:

    salt '*' http.query http://somelink.com/
    salt '*' http.query http://somelink.com/ method=POST params='{"key1": "val1", "key2": "val2"}'`},
		{Name: "http.wait_for_successful_query", Params: []loader.Param{url, loader.Opt("wait_for", int64(300))},
			KWArgs: true, Run: wait,
			Doc: `Ask a web server until it answers without an error.

CLI Example:

    salt '*' http.wait_for_successful_query http://somelink.com/ wait_for=160 request_interval=1`},
		{Name: "http.update_ca_bundle", Params: []loader.Param{loader.Opt("target", nil), loader.Opt("source", nil),
			loader.Opt("merge_files", nil)},
			Run: updateBundle, Doc: `Fetch the file of the authorities of web servers, and add files of one's own to it.

CLI Example:

    salt '*' http.update_ca_bundle source=https://example.com/cacerts.pem`},
	}
	for i := range all {
		all[i].Source = "salt/modules/http.py"
	}
	return all
}

// query asks once. Every error is a CommandExecutionError, but for the end of the job.
func query(c *loader.Call, at any, kw *payload.Map) (*payload.Map, error) {
	opts := c.Opts()
	if more, ok := kw.Value("opts").(*payload.Map); ok {
		opts = opts.Clone()
		opts.Update(more)
	}
	out, err := webquery.Ask(c.Ctx, webquery.Options{Name: "http.query", Opts: opts, Most: program.MaxOutput(),
		Files: true}, at, kw)
	if err != nil && c.Ctx.Err() == nil {
		return nil, loader.ExecErr("%s", loader.Message(err))
	}
	return out, err
}

// pause is the time between two questions that nobody has set. Unlike Salt, which asks again at once.
const pause = 200 * time.Millisecond

func wait(c *loader.Call, a loader.Args) (any, error) {
	patience, ok := loader.ToFloat(a.Get("wait_for"))
	if !ok {
		return nil, &loader.ArgumentError{Message: fmt.Sprintf("unsupported operand type(s) for +: 'float' and '%s'",
			pytext.Type(a.Get("wait_for")))}
	}
	between := pause
	if v, given := a.KW.Get("request_interval"); given {
		seconds, ok := loader.ToFloat(v)
		if !ok {
			return nil, &loader.ArgumentError{Message: "'" + pytext.Type(v) +
				"' object cannot be interpreted as an integer"}
		}
		between = time.Duration(seconds * float64(time.Second))
	}
	end := time.Now().Add(time.Duration(patience * float64(time.Second)))
	for {
		out, err := query(c, a.Get("url"), a.KW)
		if err == nil && !loader.Truthy(out.Value("Error")) && !loader.Truthy(out.Value("error")) {
			return out, nil
		}
		if time.Now().After(end) {
			if err != nil {
				return nil, err
			}
			return out, nil
		}
		select {
		case <-time.After(between):
		case <-c.Ctx.Done():
			return nil, context.Cause(c.Ctx)
		}
	}
}

// bundles are the places of the authorities on several systems.
const bundles = "/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/pki/tls/certs/ca-bundle.trust.crt " +
	"/etc/ssl/certs/ca-bundle.crt /var/lib/ca-certificates/ca-bundle.pem /etc/ssl/cert.pem"

func updateBundle(c *loader.Call, a loader.Args) (any, error) {
	option := func(given any, name, otherwise string) string {
		if v := c.Opts().Value(name); given == nil && v != nil {
			given = v
		}
		if given == nil {
			return otherwise
		}
		return pytext.Str(given)
	}
	target := option(a.Get("target"), "ca_bundle", "")
	for _, place := range strings.Fields(bundles) {
		if _, err := os.Stat(place); err == nil && target == "" {
			target = place
		}
	}
	if target == "" {
		return nil, loader.ExecErr("Unable to detect location to write CA bundle to")
	}
	source := option(a.Get("source"), "ca_bundle_url", "http://curl.haxx.se/ca/cacert.pem")
	out, err := query(c, source, payload.M("text", true, "text_out", target))
	if err != nil {
		return nil, err
	}
	if out.Has("error") { // Unlike Salt, which tells nobody
		return nil, loader.ExecErr("%s: %s", source, out.Str("error"))
	}
	return nil, merge(target, a.Get("merge_files"))
}

// merge adds files to a bundle.
func merge(target string, files any) error {
	var text strings.Builder
	for _, file := range loader.StringList(files) {
		data, err := plainfile.Read(file, program.MaxOutput())
		if err != nil {
			return err
		}
		text.WriteString("\n" + string(data))
	}
	if text.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(target, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + text.String())
	return errors.Join(err, f.Close())
}
