package etcd_return

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Version 3 of etcd's API, through the JSON gateway that etcd3-py uses as well: keys and values travel in base64.

// atOnce is how many keys one transaction sets; servers take 128.
const atOnce = 100

// begin finds out where the gateway is, and signs in.
func (s *server) begin(conf *payload.Map) error {
	answer, err := s.web.Ask(s.c.Ctx, http.MethodGet, s.base+"/version", nil, nil)
	if err != nil {
		return err
	}
	v, _ := returners.Load("the answer", string(answer.Body))
	said, _ := v.(*payload.Map)
	major, rest, _ := strings.Cut(said.Str("etcdserver"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	first, _ := strconv.Atoi(major)
	second, _ := strconv.Atoi(minor)
	switch {
	case first == 0:
		return refused(answer, "")
	case first == 3 && second < 3:
		s.prefix = "/v3alpha"
	case first == 3 && second == 3:
		s.prefix = "/v3beta"
	default:
		s.prefix = "/v3"
	}
	if !python.Truth(conf.Value("etcd.username")) || !python.Truth(conf.Value("etcd.password")) {
		return nil
	}
	token, err := s.post("/auth/authenticate", payload.M("name", returners.Word(conf, "etcd.username"), "password",
		returners.Word(conf, "etcd.password")))
	if err == nil {
		s.header.Set("Authorization", token.Str("token"))
	}
	return err
}

// post calls one function of the gateway.
func (s *server) post(path string, value *payload.Map) (*payload.Map, error) {
	text, err := returners.Dump(returnerName, value)
	if err != nil {
		return nil, err
	}
	header := s.header.Clone()
	header.Set("Content-Type", "application/json")
	answer, err := s.web.Ask(s.c.Ctx, http.MethodPost, s.base+s.prefix+path, header, []byte(text))
	if err != nil {
		return nil, err
	}
	v, failed := returners.Load("the answer", string(answer.Body))
	said, _ := v.(*payload.Map)
	if answer.Status >= http.StatusMultipleChoices {
		return nil, refused(answer, said.Str("error"))
	}
	return said, failed
}

// packed is a key or value on its way: in msgpack where the options want it, then in base64.
func packed(text string, encode bool) (string, error) {
	b := []byte(text)
	if encode {
		var err error
		if b, err = payload.MarshalBin(text); err != nil {
			return "", &returners.Unusable{Err: err}
		}
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// unpacked is the way back.
func unpacked(text string, encoded bool) (string, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !encoded {
		return string(b), err
	}
	v, err := payload.UnmarshalBin(b)
	return loader.Text(v), err
}

// put sets keys, all or none of each hundred, with one lease.
func (s *server) put(pairs []pair) error {
	lease := ""
	if s.ttl > 0 {
		granted, err := s.post("/lease/grant", payload.M("TTL", s.ttl, "ID", int64(0)))
		if err != nil {
			return err
		}
		lease = granted.Str("ID")
	}
	for len(pairs) > 0 {
		now := pairs[:min(len(pairs), atOnce)]
		pairs = pairs[len(now):]
		var all []any
		for _, p := range now {
			key, err := packed(s.key(p.key), s.encodeKeys)
			if err != nil {
				return err
			}
			value, err := packed(p.value, s.encodeValues)
			if err != nil {
				return err
			}
			set := payload.M("key", key, "value", value)
			if lease != "" {
				set.Set("lease", lease)
			}
			all = append(all, payload.M("requestPut", set))
		}
		if _, err := s.post("/kv/txn", payload.M("success", all)); err != nil {
			return err
		}
	}
	return nil
}

// find gives a key, or all that begin with it.
func (s *server) find(key string, all bool) ([]pair, error) {
	first, err := packed(s.key(key), s.encodeKeys)
	if err != nil {
		return nil, err
	}
	ask := payload.M("key", first)
	if all {
		end := []byte(s.key(key) + "/")
		end[len(end)-1]++
		ask.Set("key", base64.StdEncoding.EncodeToString([]byte(s.key(key)+"/"))).Set("range_end",
			base64.StdEncoding.EncodeToString(end))
	}
	said, err := s.post("/kv/range", ask)
	if err != nil {
		return nil, err
	}
	var out []pair
	for _, item := range said.List("kvs") {
		m, _ := item.(*payload.Map)
		name, err := unpacked(m.Str("key"), s.encodeKeys)
		if err != nil {
			return nil, err
		}
		value, err := unpacked(m.Str("value"), s.encodeValues)
		if err != nil {
			return nil, err
		}
		out = append(out, pair{name, value})
	}
	return out, nil
}
