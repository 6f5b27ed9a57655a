package elasticsearch_return

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"brine/modules/host/web"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/options"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// cluster asks the servers of a cluster, the next one where one does not answer.
type cluster struct {
	web   *web.Client
	opt   options.Values
	hosts []server
}

type server struct{ base, auth string }

const (
	here        = "127.0.0.1:9200"
	defaultPort = "9200"
	timeout     = 10 // seconds
)

// with makes the client that the option elasticsearch describes. Source: salt/modules/elasticsearch.py,
// _get_instance.
func with(c *loader.Call, opt options.Values, use func(s *cluster) error) error {
	v, err := options.Config(c, returnerName)
	if err != nil {
		return err
	}
	conf, _ := v.(*payload.Map)
	o := web.Options{Authority: conf.Str("ca_certs"), Insecure: conf.Value("verify_certs") == false,
		Patience: timeout * time.Second}
	if s, ok := python.Number(conf.Value("timeout")); ok && s > 0 {
		o.Patience = time.Duration(s * float64(time.Second))
	}
	if o.Proxies, err = proxiesOf(conf.Value("proxies")); err != nil {
		return err
	}
	s := &cluster{opt: opt}
	if s.hosts, err = serversOf(conf); err != nil {
		return err
	}
	if s.web, err = web.New(o); err != nil {
		return fmt.Errorf("elasticsearch: %w", err)
	}
	defer s.web.Close()
	if err := use(s); err != nil {
		return fmt.Errorf("elasticsearch: %w", err)
	}
	return nil
}

// proxiesOf are proxies by scheme, in a map or, as Salt's documentation has it, in a list of maps.
func proxiesOf(v any) (map[string]*url.URL, error) {
	out := map[string]*url.URL{}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		m, _ := item.(*payload.Map)
		for scheme, at := range m.All() {
			u, err := url.Parse(python.Str(at))
			if err != nil || u.Host == "" {
				return nil, returners.Misset("elasticsearch: a proxy is no URL")
			}
			out[python.Str(scheme)] = u
		}
	}
	return out, nil
}

// serversOf are the servers: "host:port", a URL, or a map of host, port, use_ssl and others.
func serversOf(conf *payload.Map) ([]server, error) {
	v := conf.Value("host")
	if !python.Truth(v) {
		v = conf.Value("hosts")
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if !python.Truth(v) {
		list = []any{here}
	}
	sign := ""
	if python.Truth(conf.Value("username")) && python.Truth(conf.Value("password")) {
		sign = returners.Word(conf, "username") + ":" + returners.Word(conf, "password")
	}
	var out []server
	for _, item := range list {
		h, err := serverOf(item, python.Truth(conf.Value("use_ssl")), sign)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

func serverOf(item any, secure bool, sign string) (server, error) {
	text := ""
	switch x := item.(type) {
	case string:
		text = x
	case *payload.Map:
		text = x.Str("host")
		if x.Has("port") {
			text += ":" + returners.Word(x, "port")
		}
		if text += "/" + strings.TrimPrefix(x.Str("url_prefix"), "/"); x.Has("use_ssl") {
			secure = python.Truth(x.Value("use_ssl"))
		}
		if x.Str("http_auth") != "" {
			sign = x.Str("http_auth")
		}
	}
	if !strings.Contains(text, "://") {
		text = "//" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return server{}, returners.Misset("elasticsearch: one of the hosts is no name, URL or map")
	}
	port := u.Port()
	switch {
	case u.Scheme == "https":
		secure = true
		if port == "" {
			port = "443"
		}
	case port == "":
		port = defaultPort
	}
	if u.User != nil {
		password, _ := u.User.Password()
		sign = u.User.Username() + ":" + password
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return server{base: scheme + "://" + host + ":" + port + strings.TrimSuffix(u.EscapedPath(), "/"), auth: sign},
		nil
}

// ask sends one request to the first server that answers.
func (s *cluster) ask(c *loader.Call, method string, path []string, body string) (web.Answer, error) {
	var at strings.Builder
	for _, part := range path {
		if part == "" || part == "." || part == ".." {
			return web.Answer{}, returners.Refuse("%q is no name of an index or document", part)
		}
		at.WriteString("/" + web.PathPart(part))
	}
	var failed []error
	for _, h := range s.hosts {
		header := http.Header{"Content-Type": {"application/json"}}
		if h.auth != "" {
			header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(h.auth)))
		}
		answer, err := s.web.Ask(c.Ctx, method, h.base+at.String(), header, []byte(body))
		if err == nil && (answer.Status < http.StatusBadGateway || answer.Status > http.StatusGatewayTimeout) {
			return answer, nil
		}
		if err == nil {
			err = refused(answer)
		}
		failed = append(failed, err)
	}
	return web.Answer{}, errors.Join(failed...)
}

// ensure makes an index and its alias, unless it is there. Source: _ensure_index.
func (s *cluster) ensure(c *loader.Call, index string) error {
	answer, err := s.ask(c, http.MethodHead, []string{index}, "")
	if err != nil || answer.Status == http.StatusOK {
		return err
	}
	if answer.Status != http.StatusNotFound {
		return refused(answer)
	}
	made := payload.M("settings", payload.M("number_of_shards", s.opt["number_of_shards"], "number_of_replicas",
		s.opt["number_of_replicas"]))
	text, err := returners.Dump(returnerName, made)
	if err != nil {
		return err
	}
	answer, err = s.ask(c, http.MethodPut, []string{index + "-v1"}, text)
	if err != nil {
		return err
	}
	if answer.Status >= http.StatusMultipleChoices && !strings.HasSuffix(errorKind(answer),
		"already_exists_exception") {
		return refused(answer)
	}
	answer, err = s.ask(c, http.MethodPut, []string{index + "-v1", "_alias", index}, "")
	if err == nil && answer.Status >= http.StatusMultipleChoices {
		err = refused(answer)
	}
	return err
}

// put indexes a document: path is index, type and, unless the server chooses it, id.
func (s *cluster) put(c *loader.Call, path []string, doc *payload.Map) error {
	text, err := returners.Dump(returnerName, doc)
	if err != nil {
		return err
	}
	method := http.MethodPost
	if len(path) > 2 {
		method = http.MethodPut
	}
	answer, err := s.ask(c, method, path, text)
	if err == nil && answer.Status >= http.StatusMultipleChoices {
		err = refused(answer)
	}
	return err
}

// errorWord is a kind of error; other texts may be anybody's, and are not shown.
var errorWord = pattern.New(`^[a-z_]{1,60}$`)

// errorKind is the kind of error in an answer.
func errorKind(answer web.Answer) string {
	v, err := returners.Load("the answer", string(answer.Body))
	if m, ok := v.(*payload.Map); ok && err == nil {
		if kind := m.Map("error").Str("type"); errorWord.MatchString(kind) {
			return kind
		}
	}
	return ""
}

// refused is the error of an answer. What is wrong with a document stays wrong.
func refused(answer web.Answer) error {
	err := fmt.Errorf("the server answers %d %s %s", answer.Status, http.StatusText(answer.Status),
		errorKind(answer))
	if answer.Status == http.StatusBadRequest || answer.Status == http.StatusRequestEntityTooLarge {
		return &returners.Unusable{Err: err}
	}
	return err
}
