// Package http is the execution module http: questions to web servers (modules/host/webquery, which has the options).
// It answers to salt/modules/http.py.
package http

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
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module http.
func Module() loader.Module {
	return loader.Module{File: "http", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("query", query, "Ask a web server, and decode what it answers.",
				"http.query http://somelink.com/",
				`http.query http://somelink.com/ method=POST params='{"key1": "val1", "key2": "val2"}'`),
			loader.Fn("wait_for_successful_query", wait, "Ask a web server until it answers without an error.",
				"http.wait_for_successful_query http://somelink.com/ wait_for=160 request_interval=1"),
			loader.Fn("update_ca_bundle", updateBundle,
				"Fetch the file of the authorities of web servers, and add files of one's own to it.",
				"http.update_ca_bundle source=https://example.com/cacerts.pem"),
		}
	}}
}

type question struct {
	URL any          `arg:"url"`
	KW  *payload.Map `arg:"**kwargs"`
}

func query(c *loader.Call, a question) (*payload.Map, error) { return ask(c, a.URL, a.KW) }

// ask asks once. Every error is a CommandExecutionError, but for the end of the job.
func ask(c *loader.Call, at any, kw *payload.Map) (*payload.Map, error) {
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

type repeated struct {
	URL     any          `arg:"url"`
	WaitFor any          `arg:"wait_for=300"`
	KW      *payload.Map `arg:"**kwargs"`
}

func wait(c *loader.Call, a repeated) (any, error) {
	patience, ok := python.Number(a.WaitFor)
	if !ok {
		return nil, &loader.ArgumentError{Message: fmt.Sprintf("unsupported operand type(s) for +: 'float' and '%s'",
			python.Type(a.WaitFor))}
	}
	between := pause
	if v, given := a.KW.Get("request_interval"); given {
		seconds, ok := python.Number(v)
		if !ok {
			return nil, &loader.ArgumentError{Message: "'" + python.Type(v) +
				"' object cannot be interpreted as an integer"}
		}
		between = time.Duration(seconds * float64(time.Second))
	}
	end := time.Now().Add(time.Duration(patience * float64(time.Second)))
	for {
		out, err := ask(c, a.URL, a.KW)
		if err == nil && !python.Truth(out.Value("Error")) && !python.Truth(out.Value("error")) {
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
const bundles = "/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt " +
	"/etc/pki/tls/certs/ca-bundle.trust.crt /etc/ssl/certs/ca-bundle.crt " +
	"/var/lib/ca-certificates/ca-bundle.pem /etc/ssl/cert.pem"

type bundle struct {
	Target any `arg:"target=None"`
	Source any `arg:"source=None"`
	Files  any `arg:"merge_files=None"`
}

func updateBundle(c *loader.Call, a bundle) (any, error) {
	option := func(given any, name, otherwise string) string {
		if v := c.Opts().Value(name); given == nil && v != nil {
			given = v
		}
		if given == nil {
			return otherwise
		}
		return python.Str(given)
	}
	target := option(a.Target, "ca_bundle", "")
	for _, place := range strings.Fields(bundles) {
		if _, err := os.Stat(place); err == nil && target == "" {
			target = place
		}
	}
	if target == "" {
		return nil, loader.ExecErr("Unable to detect location to write CA bundle to")
	}
	source := option(a.Source, "ca_bundle_url", "http://curl.haxx.se/ca/cacert.pem")
	out, err := ask(c, source, payload.M("text", true, "text_out", target))
	if err != nil {
		return nil, err
	}
	if out.Has("error") { // Unlike Salt, which tells nobody
		return nil, loader.ExecErr("%s: %s", source, out.Str("error"))
	}
	return nil, merge(target, a.Files)
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
