package returners

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
	"brine/wire/payload"
	"brine/wire/python"
)

// elastic asks the servers of a cluster, the next one where one does not answer.
type elastic struct {
	web   *web.Client
	opt   settings
	hosts []elasticHost
}

type elasticHost struct{ base, auth string }

const (
	elasticHere    = "127.0.0.1:9200"
	elasticPort    = "9200"
	elasticTimeout = 10 // seconds
)

// withElastic makes the client that the option elasticsearch describes. Source: salt/modules/elasticsearch.py,
// _get_instance.
func withElastic(c *loader.Call, opt settings, use func(s *elastic) error) error {
	v, err := configOption(c, elasticName)
	if err != nil {
		return err
	}
	conf, _ := v.(*payload.Map)
	o := web.Options{Authority: conf.Str("ca_certs"), Insecure: conf.Value("verify_certs") == false,
		Patience: elasticTimeout * time.Second}
	if s, ok := python.Number(conf.Value("timeout")); ok && s > 0 {
		o.Patience = time.Duration(s * float64(time.Second))
	}
	if o.Proxies, err = elasticProxies(conf.Value("proxies")); err != nil {
		return err
	}
	s := &elastic{opt: opt}
	if s.hosts, err = elasticHosts(conf); err != nil {
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

// elasticProxies are proxies by scheme, in a map or, as Salt's documentation has it, in a list of maps.
func elasticProxies(v any) (map[string]*url.URL, error) {
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
				return nil, misset("elasticsearch: a proxy is no URL")
			}
			out[python.Str(scheme)] = u
		}
	}
	return out, nil
}

// elasticHosts are the servers: "host:port", a URL, or a map of host, port, use_ssl and others.
func elasticHosts(conf *payload.Map) ([]elasticHost, error) {
	v := conf.Value("host")
	if !python.Truth(v) {
		v = conf.Value("hosts")
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if !python.Truth(v) {
		list = []any{elasticHere}
	}
	sign := ""
	if python.Truth(conf.Value("username")) && python.Truth(conf.Value("password")) {
		sign = word(conf, "username") + ":" + word(conf, "password")
	}
	var out []elasticHost
	for _, item := range list {
		h, err := elasticHostOf(item, python.Truth(conf.Value("use_ssl")), sign)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

func elasticHostOf(item any, secure bool, sign string) (elasticHost, error) {
	text := ""
	switch x := item.(type) {
	case string:
		text = x
	case *payload.Map:
		text = x.Str("host")
		if x.Has("port") {
			text += ":" + word(x, "port")
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
		return elasticHost{}, misset("elasticsearch: one of the hosts is no name, URL or map")
	}
	port := u.Port()
	switch {
	case u.Scheme == "https":
		secure = true
		if port == "" {
			port = "443"
		}
	case port == "":
		port = elasticPort
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
	return elasticHost{base: scheme + "://" + host + ":" + port + strings.TrimSuffix(u.EscapedPath(), "/"), auth: sign},
		nil
}

// ask sends one request to the first server that answers.
func (s *elastic) ask(c *loader.Call, method string, path []string, body string) (web.Answer, error) {
	var at strings.Builder
	for _, part := range path {
		if part == "" || part == "." || part == ".." {
			return web.Answer{}, unusable("%q is no name of an index or document", part)
		}
		at.WriteString("/" + quote(part))
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
			err = refusedByElastic(answer)
		}
		failed = append(failed, err)
	}
	return web.Answer{}, errors.Join(failed...)
}

// quote escapes a part of a path as elasticsearch-py does.
func quote(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte("_.-~,*", b) >= 0 {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

// ensure makes an index and its alias, unless it is there. Source: _ensure_index.
func (s *elastic) ensure(c *loader.Call, index string) error {
	answer, err := s.ask(c, http.MethodHead, []string{index}, "")
	if err != nil || answer.Status == http.StatusOK {
		return err
	}
	if answer.Status != http.StatusNotFound {
		return refusedByElastic(answer)
	}
	made := payload.M("settings", payload.M("number_of_shards", s.opt["number_of_shards"], "number_of_replicas",
		s.opt["number_of_replicas"]))
	text, err := dumps(elasticName, made)
	if err != nil {
		return err
	}
	answer, err = s.ask(c, http.MethodPut, []string{index + "-v1"}, text)
	if err != nil {
		return err
	}
	if answer.Status >= http.StatusMultipleChoices && !strings.HasSuffix(elasticError(answer),
		"already_exists_exception") {
		return refusedByElastic(answer)
	}
	answer, err = s.ask(c, http.MethodPut, []string{index + "-v1", "_alias", index}, "")
	if err == nil && answer.Status >= http.StatusMultipleChoices {
		err = refusedByElastic(answer)
	}
	return err
}

// put indexes a document: path is index, type and, unless the server chooses it, id.
func (s *elastic) put(c *loader.Call, path []string, doc *payload.Map) error {
	text, err := dumps(elasticName, doc)
	if err != nil {
		return err
	}
	method := http.MethodPost
	if len(path) > 2 {
		method = http.MethodPut
	}
	answer, err := s.ask(c, method, path, text)
	if err == nil && answer.Status >= http.StatusMultipleChoices {
		err = refusedByElastic(answer)
	}
	return err
}

// elasticError is the kind of error in an answer.
func elasticError(answer web.Answer) string {
	v, err := loads("the answer", string(answer.Body))
	if m, ok := v.(*payload.Map); ok && err == nil {
		if kind := m.Map("error").Str("type"); slackWord.MatchString(kind) {
			return kind
		}
	}
	return ""
}

// refusedByElastic is the error of an answer. What is wrong with a document stays wrong.
func refusedByElastic(answer web.Answer) error {
	err := fmt.Errorf("the server answers %d %s %s", answer.Status, http.StatusText(answer.Status),
		elasticError(answer))
	if answer.Status == http.StatusBadRequest || answer.Status == http.StatusRequestEntityTooLarge {
		return &Unusable{err}
	}
	return err
}
