package websocket

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// ErrHandshake means that a request is no handshake of RFC 6455, version 13.
var ErrHandshake = errors.New("websocket: no handshake")

// magic is appended to the key of a client (RFC 6455, 1.3).
const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// keySize is the length of a client's key before it is written in base64.
const keySize = 16

// Accept checks the handshake of a client and returns the value of Sec-WebSocket-Accept for it. The error is ErrHandshake.
func Accept(r *http.Request) (string, error) {
	h := r.Header
	key := h.Get("Sec-WebSocket-Key")
	raw, err := base64.StdEncoding.DecodeString(key)
	switch {
	case r.Method != http.MethodGet, !r.ProtoAtLeast(1, 1),
		!lists(h["Connection"], "upgrade"), !lists(h["Upgrade"], "websocket"),
		h.Get("Sec-WebSocket-Version") != "13", err != nil, len(raw) != keySize, len(h["Sec-Websocket-Key"]) != 1:
		return "", ErrHandshake
	}
	sum := sha1.Sum([]byte(key + magic))
	return base64.StdEncoding.EncodeToString(sum[:]), nil
}

// lists tells whether a word stands in a header, which is a list of words; small and big letters are the same.
func lists(values []string, word string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(part), word) {
				return true
			}
		}
	}
	return false
}

// SameOrigin tells whether a request comes from a page of its own host, or from no page at all. A browser sends cookies along with
// the handshake of any page, so where a cookie is what lets a client in, another origin has to be refused.
func SameOrigin(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}
