package etcd_return

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"brine/modules/host/web"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/python"
)

// server asks one etcd by the API of version 2, or by the JSON gateway of version 3, about keys below the root.
type server struct {
	c      *loader.Call
	web    *web.Client
	base   string // of the URL
	header http.Header
	root   string // of the keys
	ttl    int64  // of what is written, in seconds; 0: for ever
	v3     bool
	prefix string // of version 3: "/v3"

	encodeKeys, encodeValues bool // version 3: in msgpack
}

// pair is a key below the root and its value.
type pair struct{ key, value string }

// with makes the client that a profile describes; the name of the profile stands in the option, else in
// etcd.returner; without one the options themselves do. Source: salt/utils/etcd_util.py, get_conn.
func with(c *loader.Call, option string, use func(s *server) error) error {
	all := c.Pillar().Map("master").Clone()
	all.Update(c.Pillar())
	all.Update(c.Opts())
	conf, ttl := all, any(nil)
	name := c.Opts().Value(option)
	if python.Truth(name) {
		ttl = c.Opts().Map(python.Str(name)).Value("etcd.ttl")
	} else {
		name, ttl = c.Opts().Value("etcd.returner"), c.Opts().Value("etcd.ttl")
	}
	if python.Truth(name) {
		if conf = all.Map(python.Str(name)); conf.Len() == 0 {
			return returners.Misset("etcd: there is no profile %s in the configuration", python.Str(name))
		}
	}
	s, err := newServer(c, conf, ttl)
	if err != nil {
		return err
	}
	defer s.web.Close()
	if s.v3 {
		err = s.begin(conf)
	}
	if err == nil {
		err = use(s)
	}
	if err != nil {
		return fmt.Errorf("etcd at %s: %w", s.base, err)
	}
	return nil
}

func newServer(c *loader.Call, conf *payload.Map, ttl any) (*server, error) {
	text := func(name, or string) string {
		if v := conf.Value(name); python.Truth(v) {
			return python.Str(v)
		}
		return or
	}
	flag := func(name string, or bool) bool {
		if v, ok := conf.Get(name); ok {
			return python.Truth(v)
		}
		return or
	}
	s := &server{c: c, header: http.Header{}, root: defaultRoot, v3: !flag("etcd.require_v2", true),
		encodeKeys:   flag("etcd.encode_keys", false),
		encodeValues: flag("etcd.encode_values", true)}
	if v, ok := c.Opts().Get("etcd.returner_root"); ok {
		s.root = python.Str(v)
	}
	if how := text("etcd.unicode_errors", "surrogateescape"); how != "surrogateescape" {
		c.Log(slog.LevelWarn,
			"etcd.unicode_errors "+how+" has no effect: texts that are not UTF-8 are kept as they are")
	}
	var err error
	if python.Truth(ttl) {
		if s.ttl, err = loader.ToInt(ttl); err != nil || s.ttl < 0 {
			return nil, returners.Misset("etcd.ttl is no number of seconds: %s", python.Repr(ttl))
		}
	}
	port, err := strconv.ParseUint(text("etcd.port", "2379"), 10, 16)
	if err != nil {
		return nil, returners.Misset("etcd.port is no port")
	}
	scheme, o := "http", web.Options{Authority: text("etcd.ca", "")}
	cert, key := text("etcd.client_cert", ""), text("etcd.client_key", "")
	if o.Authority != "" && (cert == "") == (key == "") {
		scheme, o.Cert, o.Key = "https", cert, key
	}
	s.base = web.Base(scheme, text("etcd.host", "127.0.0.1"), int(port))
	if user, password := text("etcd.username", ""), text("etcd.password", ""); user != "" && password != "" && !s.v3 {
		s.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	if s.web, err = web.New(o); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return s, nil
}

// key is a whole key.
func (s *server) key(name string) string { return s.root + "/" + name }

// write sets keys, those of version 3 at once.
func (s *server) write(pairs []pair) error {
	if s.v3 {
		return s.put(pairs)
	}
	for _, p := range pairs {
		form := url.Values{"value": {p.value}}
		if s.ttl > 0 {
			form.Set("ttl", strconv.FormatInt(s.ttl, 10))
		}
		if _, _, err := s.node(http.MethodPut, p.key, "", form.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// read gives the value of a key.
func (s *server) read(key string) (string, bool, error) {
	if s.v3 {
		list, err := s.find(key, false)
		if err != nil || len(list) == 0 {
			return "", false, err
		}
		return list[0].value, true, nil
	}
	node, ok, err := s.node(http.MethodGet, key, "", "")
	return node.Str("value"), ok && node.Has("value"), err
}

// tree gives what stands below a key: texts, and maps by the parts of longer keys.
func (s *server) tree(key string) (*payload.Map, error) {
	if !s.v3 {
		node, _, err := s.node(http.MethodGet, key, "?recursive=true", "")
		return branches(node), err
	}
	if s.encodeKeys {
		return nil, returners.Misset("etcd.encode_keys leaves nothing to search in")
	}
	list, err := s.find(key, true)
	out := payload.NewMap(0)
	for _, p := range list {
		rest, ok := strings.CutPrefix(p.key, s.key(key)+"/")
		if !ok {
			continue // of a longer name
		}
		at := out
		parts := strings.Split(strings.TrimLeft(rest, "/"), "/")
		for _, part := range parts[:len(parts)-1] {
			next := at.Map(part)
			if next == nil {
				next = payload.NewMap(0)
				at.Set(part, next)
			}
			at = next
		}
		at.Set(parts[len(parts)-1], p.value)
	}
	return out, err
}

// branches makes maps of the nodes of version 2.
func branches(node *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for _, item := range node.List("nodes") {
		child, _ := item.(*payload.Map)
		name := child.Str("key")
		name = name[strings.LastIndexByte(name, '/')+1:]
		if child.Bool("dir") {
			out.Set(name, branches(child))
		} else {
			out.Set(name, child.Value("value"))
		}
	}
	return out
}

// notFound is the error code of version 2 for a key that is not there.
const notFound = int64(100)

// node asks for a key by version 2.
func (s *server) node(method, key, query, form string) (*payload.Map, bool, error) {
	var path strings.Builder
	for part := range strings.SplitSeq(strings.Trim(s.key(key), "/"), "/") {
		path.WriteString("/" + web.PathPart(part))
	}
	header := s.header.Clone()
	if form != "" {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := s.web.Ask(s.c.Ctx, method, s.base+"/v2/keys"+path.String()+query, header, []byte(form))
	if err != nil {
		return nil, false, err
	}
	v, failed := returners.Load("the answer", string(answer.Body))
	said, _ := v.(*payload.Map)
	switch {
	case said.Value("errorCode") == notFound:
		return nil, false, nil
	case answer.Status == http.StatusNotFound && failed != nil:
		return nil, false, errors.New("the server does not have the API of version 2 (etcd.require_v2)")
	case answer.Status >= http.StatusMultipleChoices:
		return nil, false, refused(answer, said.Str("message"))
	}
	return said.Map("node"), true, failed
}

// refused is the error of an answer.
func refused(answer web.Answer, message string) error {
	if len(message) > 200 {
		message = message[:200]
	}
	err := fmt.Errorf("the server answers %d %s %q", answer.Status, http.StatusText(answer.Status), message)
	if answer.Status == http.StatusRequestEntityTooLarge || strings.Contains(message, "request is too large") ||
		strings.Contains(message, "larger than max") {
		return &returners.Unusable{Err: err}
	}
	return err
}
