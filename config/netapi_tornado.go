package config

import (
	"errors"
	"fmt"
	"log/slog"

	"brine/wire/payload"
	"brine/wire/python"
)

// Tornado is the section rest_tornado (salt/netapi/rest_tornado/__init__.py).
type Tornado struct {
	Address string // "": all
	Port    int

	DisableSSL         bool
	SSLCrt, SSLKey     string   // files; without a key it stands in the file of the certificate
	WebhookDisableAuth bool     // events of /hook need no token
	CORSOrigin         []string // pages that may use the server, "*": all
	Websockets         bool     // /all_events and /formatted_events
	Console            bool     // brine's own: the pages below /console

	TokenDigits        int   // of an eauth token, by hash_type
	MaxRequestBodySize int64 // bytes
	Front
}

// WSGI is the section rest_wsgi (salt/netapi/rest_wsgi.py). It listens on the loopback address.
type WSGI struct {
	Port               int
	MaxRequestBodySize int64 // bytes
	Front
}

// readOthers reads the sections of rest_tornado and rest_wsgi.
func (n *Netapi) readOthers(hashType string) error {
	if sec, ok := n.configured("rest_tornado"); ok {
		t, err := n.readTornado(sec, hashType)
		if err != nil {
			return err
		}
		n.Tornado = t
	}
	if sec, ok := n.configured("rest_wsgi"); ok {
		s := &section{name: "rest_wsgi", m: sec, known: map[string]bool{}}
		n.WSGI = &WSGI{Port: s.number("port", 0, 0, 65535), MaxRequestBodySize: maxBody, Front: s.front()}
		n.unknown(s)
		return s.err
	}
	return nil
}

// configured is a section that has a port; without one a server is not loaded.
func (n *Netapi) configured(name string) (*payload.Map, bool) {
	sec := n.Sections.Map(name)
	if sec.Len() == 0 {
		return nil, false
	}
	if !sec.Has("port") {
		n.notice(slog.LevelError, "Not loading '%s'. 'port' not specified in config", name)
		return nil, false
	}
	return sec, true
}

// digits are the lengths of hexadecimal digests by hash_type.
func digits(hashType string) (int, bool) {
	n, ok := map[string]int{"md5": 32, "sha1": 40, "sha224": 56, "": 64, "sha256": 64, "sha384": 96,
		"sha512": 128}[hashType]
	return n, ok
}

func (n *Netapi) readTornado(m *payload.Map, hashType string) (*Tornado, error) {
	s := &section{name: "rest_tornado", m: m, known: map[string]bool{}}
	t := &Tornado{
		Address: s.text("address", ""), Port: s.number("port", 0, 0, 65535), DisableSSL: s.truth("disable_ssl", false),
		SSLCrt: s.text("ssl_crt", ""), SSLKey: s.text("ssl_key", ""),
		WebhookDisableAuth: s.truth("webhook_disable_auth", false), CORSOrigin: s.texts("cors_origin"),
		Websockets: s.truth("websockets", false), Console: s.truth("console", false), MaxRequestBodySize: maxBody,
		Front: s.front(),
	}
	if t.SSLKey == "" {
		t.SSLKey = t.SSLCrt
	}
	var known bool
	if t.TokenDigits, known = digits(hashType); !known {
		return nil, &Error{Key: "hash_type", Value: hashType, Code: ExitGeneric,
			Err: fmt.Errorf("hash_type %q has no length that tokens could have", hashType)}
	}
	if !t.DisableSSL && t.SSLCrt == "" && s.err == nil {
		s.err = &Error{Key: "rest_tornado", Code: ExitGeneric,
			Err: errors.New("Not starting 'rest_tornado'. Options 'ssl_crt' and 'ssl_key' are required if SSL is " +
				"not disabled.")}
	}
	for _, opt := range []struct{ key, why string }{
		{"backlog", "the kernel's backlog is used"}, {"num_processes", "one process serves all processors"},
		{"debug", "answers never show stacks, and programs are not loaded anew"},
	} {
		if v, given := s.get(opt.key); given && python.Truth(v) && v != int64(1) {
			n.notice(slog.LevelWarn, "Option '%s' of rest_tornado is not honoured: %s", opt.key, opt.why)
		}
	}
	n.unknown(s)
	return t, s.err
}

// unknown names the options of a section that nobody reads.
func (n *Netapi) unknown(s *section) {
	for _, k := range s.m.Keys() {
		if key := python.Str(k); !s.known[key] {
			n.notice(slog.LevelWarn, "Option '%s' of %s is not known", key, s.name)
		}
	}
}
