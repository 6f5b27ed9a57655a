// Package webquery asks web servers as http.query and the filter http_query do: in bounds, with Salt's options and
// Salt's result. It answers to salt/utils/http.py and xmlutil.py.
package webquery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/modules/host/plainfile"
	"brine/modules/host/web"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// maxRedirects is how many of them are followed.
const maxRedirects = 5

// Options say what a question may do besides asking.
type Options struct {
	Name  string       // of what asks, in refusals: "the filter 'http_query'"
	Opts  *payload.Map // of the process: http_request_timeout, proxy_host, ...
	Most  int64        // bytes of an answer; http_max_body may say less. Unlike Salt, which takes 100 GB
	Files bool         // data_file, header_file, text_out and decode_out name files of this machine
}

// refused are options of Salt's query that are not honoured. Any other keyword means nothing, to Salt too.
var refused = strings.Fields("cookies persist_session data_render data_renderer header_render header_renderer " +
	"headers_out stream streaming_callback " +
	"header_callback handle formdata formdata_fieldname formdata_filename")

// ofFiles are those that need Files.
var ofFiles = strings.Fields("data_file header_file text_out decode_out")

// query is one question.
type query struct {
	Options
	given  *payload.Map
	method string
	at     *url.URL
	header http.Header
	body   []byte
}

// Ask asks a web server. The result has Salt's keys: body, status, headers, dict, text, error. The error is one of
// Python, or the cause of the context.
//
// Unlike Salt: a redirect to another server gets none of the headers, the password and the data that were meant for the
// first one.
func Ask(ctx context.Context, o Options, at any, given *payload.Map) (*payload.Map, error) {
	q := &query{Options: o, given: given, header: http.Header{}}
	for name, v := range given.All() {
		text := python.Str(name)
		if python.Truth(v) && (slices.Contains(refused, text) || !o.Files && slices.Contains(ofFiles, text)) {
			return nil, loader.Raise("NotImplementedError", "%s does not have the option '%s' yet", o.Name, text)
		}
	}
	if given.Bool("test") {
		if !python.Truth(given.Value("test_url")) {
			return payload.NewMap(0), nil
		}
		at = given.Value("test_url")
	}
	text, ok := at.(string)
	if !ok {
		return nil, loader.Raise("TypeError", "%s wants a URL, not %s", o.Name, python.Type(at))
	}
	if err := q.prepare(text); err != nil {
		return nil, err
	}
	answer, err := q.send(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return q.result(answer, err)
}

// prepare makes the request of what was given.
func (q *query) prepare(text string) (err error) {
	if q.at, err = url.Parse(text); err != nil || q.at.Host == "" || q.at.Scheme != "http" && q.at.Scheme != "https" {
		return loader.Raise("ValueError", "Unsupported url scheme: %s", text)
	}
	if params := q.given.Map("params"); params.Len() > 0 {
		q.at.RawQuery = strings.TrimPrefix(q.at.RawQuery+"&"+form(params), "&")
	}
	q.method = "GET"
	if v := q.given.Value("method"); v != nil {
		q.method = python.Str(v)
	}
	data, err := q.file("data_file", q.given.Value("data"))
	if err != nil {
		return err
	}
	switch data := data.(type) {
	case nil:
	case *payload.Map:
		q.body = []byte(form(data))
	default:
		q.body = []byte(python.Str(data))
	}
	lines := loader.StringList(q.given.Value("header_list"))
	if file, err := q.file("header_file", nil); err != nil {
		return err
	} else if text, ok := file.(string); ok {
		lines = strings.Split(text, "\n")
	}
	for name, v := range q.given.Map("header_dict").All() {
		q.header.Set(python.Str(name), python.Str(v))
	}
	for _, line := range lines {
		if parts := strings.Split(line, ":"); len(parts) > 1 {
			q.header.Set(strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]))
		}
	}
	q.header.Set("User-Agent", "brine http.query()")
	if agent := q.given.Value("agent"); agent != nil {
		q.header.Set("User-Agent", python.Str(agent))
	}
	if q.method == http.MethodPost && q.header.Get("Content-Type") == "" {
		q.header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	user, secret := q.given.Value("username"), q.given.Value("password")
	// no other back end of Salt looks at it
	if pair, ok := q.given.Value("auth").([]any); ok && len(pair) == 2 && q.given.Value("backend") == "requests" {
		user, secret = pair[0], pair[1]
	}
	if user != nil {
		r := http.Request{Header: q.header}
		r.SetBasicAuth(python.Str(user), loader.Text(secret))
	}
	return nil
}

// file is the text of the file that an option names, else another value.
func (q *query) file(option string, otherwise any) (any, error) {
	v := q.given.Value(option)
	if v == nil {
		return otherwise, nil
	}
	data, err := plainfile.Read(python.Str(v), q.Most)
	if err != nil {
		return nil, err
	}
	return python.DecodeUTF8(data), nil
}

// keep writes the body to the file that an option names.
func (q *query) keep(option string, body any) error {
	v := q.given.Value(option)
	if !python.Truth(v) {
		return nil
	}
	text, ok := body.(string)
	if !ok {
		return loader.Raise("TypeError", "write() argument must be str, not %s", python.Type(body))
	}
	return os.WriteFile(python.Str(v), []byte(text), 0o666)
}

// form writes pairs as urllib.parse.urlencode does.
func form(pairs *payload.Map) string {
	var all []string
	for k, v := range pairs.All() {
		all = append(all, url.QueryEscape(python.Str(k))+"="+url.QueryEscape(python.Str(v)))
	}
	return strings.Join(all, "&")
}

// client reaches servers by the options of the call, else of the process.
func (q *query) client() (*web.Client, error) {
	value := func(name string) any {
		if v := q.given.Value(name); v != nil {
			return v
		}
		return q.Opts.Value(name)
	}
	o := web.Options{Patience: seconds(q.Opts.Value("http_request_timeout"), time.Hour),
		Connect: seconds(q.Opts.Value("http_connect_timeout"), 20*time.Second),
		Most:    q.Most, Authority: loader.Text(value("ca_bundle"))}
	if most, err := loader.ToInt(q.Opts.Value("http_max_body")); err == nil && most > 0 && most < q.Most {
		o.Most = most
	}
	if v := value("verify_ssl"); v != nil && !python.Truth(v) {
		o.Insecure = true
	}
	if pair := loader.StringList(value("cert")); len(pair) > 0 {
		o.Cert, o.Key = pair[0], pair[len(pair)-1]
	}
	if host, port := loader.Text(q.Opts.Value("proxy_host")), loader.Text(q.Opts.Value("proxy_port")); host != "" &&
		port != "" && port != "0" &&
		!slices.Contains(loader.StringList(q.Opts.Value("no_proxy")), q.at.Hostname()) {
		proxy := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
		if user, pass := loader.Text(q.Opts.Value("proxy_username")),
			loader.Text(q.Opts.Value("proxy_password")); user != "" && pass != "" {
			proxy.User = url.UserPassword(user, pass)
		}
		o.Proxies = map[string]*url.URL{"http": proxy, "https": proxy}
	}
	return web.New(o)
}

func seconds(v any, otherwise time.Duration) time.Duration {
	switch x := payload.Canon(v).(type) {
	case int64:
		return time.Duration(x) * time.Second
	case float64:
		return time.Duration(x * float64(time.Second))
	}
	return otherwise
}

// send asks, and follows redirects as Tornado's client does.
func (q *query) send(ctx context.Context) (web.Answer, error) {
	c, err := q.client()
	if err != nil {
		return web.Answer{}, err
	}
	defer c.Close()
	for hops := 0; ; hops++ {
		a, err := c.Ask(ctx, q.method, q.at.String(), q.header, q.body)
		where := a.Header.Get("Location")
		if err != nil || hops == maxRedirects || where == "" || !slices.Contains([]int{301, 302, 303, 307, 308},
			a.Status) {
			return a, err
		}
		if err := q.follow(a.Status, where); err != nil {
			return a, err
		}
	}
}

// follow goes where a server says.
func (q *query) follow(status int, where string) error {
	next, err := q.at.Parse(where)
	if err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https" {
		return errors.New("the server redirects to what is no web server")
	}
	if q.method != http.MethodHead && (status == 303 || status < 303 && q.method == http.MethodPost) {
		q.method, q.body = http.MethodGet, nil
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"} {
			q.header.Del(name)
		}
	}
	if next.Scheme != q.at.Scheme || next.Host != q.at.Host {
		if len(q.body) > 0 {
			return errors.New("the server redirects to another one, which does not get the data")
		}
		q.header = http.Header{"User-Agent": q.header["User-Agent"]}
	}
	q.at = next
	return nil
}

// result is what Salt makes of an answer, or of none.
func (q *query) result(a web.Answer, failed error) (*payload.Map, error) {
	out := payload.NewMap(4)
	if failed != nil {
		if told, text := a.Status, reason(failed); strings.HasPrefix(text, "HTTP 599") {
			out.Set("status", int64(599))
		} else if q.given.Bool("status") {
			out.Set("status", int64(told))
		}
		return out.Set("error", reason(failed)), nil
	}
	if q.given.Bool("test") {
		out.Set("test", true)
	}
	raise := !q.given.Has("raise_error") || q.given.Bool("raise_error")
	if raise && (a.Status < 200 || a.Status >= 300) {
		out.Set("status", int64(a.Status)).Set("error", fmt.Sprintf("HTTP %d: %s", a.Status, a.Reason))
	}
	refused := out.Has("error")
	body, err := q.text(a)
	if err != nil {
		return nil, err
	}
	out.Set("body", body)
	if refused {
		return out, nil
	}
	if err := q.keep("text_out", body); err != nil {
		return nil, err
	}
	if q.given.Bool("status") {
		out.Set("status", int64(a.Status))
	}
	if q.given.Bool("headers") {
		out.Set("headers", headersOf(a.Header))
	}
	plain := q.given.Bool("text")
	if q.given.Bool("decode") {
		if plain, err = q.decode(a, body, out, plain); err != nil || out.Has("error") {
			return out, err
		}
		if err := q.keep("decode_out", body); err != nil {
			return nil, err
		}
	}
	if plain {
		out.Set("text", body)
	}
	return out, nil
}

// reason is an error as Python says it.
func reason(err error) string {
	var errno syscall.Errno
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "[Errno -2] Name or service not known"
	case errors.Is(err, context.DeadlineExceeded):
		return "HTTP 599: Timeout during request"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "HTTP 599: Timeout while connecting"
	case errors.As(err, &errno):
		text := errno.Error()
		return fmt.Sprintf("[Errno %d] %s", int(errno), strings.ToUpper(text[:1])+text[1:])
	}
	return err.Error()
}

// headersOf maps names to values; of several under one name with commas between.
func headersOf(h http.Header) *payload.Map {
	out := payload.NewMap(len(h))
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out.Set(name, strings.Join(h[name], ","))
	}
	return out
}
