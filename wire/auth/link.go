package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"

	"brine/wire/crypt"
)

// A minion of a brine master subscribes to one additional topic, which no publication has: the beginning and the end of
// that subscription tell the master who is connected. Any peer may subscribe to any topic, so only a topic counts that
// nobody else can know: it ends with a MAC over the id and its accepted key, under a key derived from the master's own.
// The master sends it in the acceptance, in a box of the session. It stays valid as long as both pairs of keys do, even
// when both sides restart.
//
//	topic  "brine:" | id | NUL | MAC (12 bytes, because libzmq takes some 40 bytes for each)
const (
	linkPrefix = "brine:"
	linkSize   = 12
	linkLabel  = "brine: who is connected to the publish port"
)

// fieldLink is the box with the MAC in the acceptance of a brine master. Unlike Salt: its acceptance has no such field.
const fieldLink = "brine_link"

// linkKey derives the key of the MACs.
func linkKey(key *crypt.PrivateKey) ([]byte, error) {
	text, err := key.MarshalPEM("")
	if err != nil {
		return nil, fmt.Errorf("key of links: %w", err)
	}
	mac := hmac.New(sha256.New, text)
	mac.Write([]byte(linkLabel))
	return mac.Sum(nil), nil
}

func (m *Master) linkMAC(id, pub string) []byte {
	mac := hmac.New(sha256.New, m.links)
	mac.Write([]byte(id + "\x00" + CleanKey(pub)))
	return mac.Sum(nil)[:linkSize]
}

func linkTopic(id string, mac []byte) string { return linkPrefix + id + "\x00" + string(mac) }

// LinkID is the id in a topic of the publish port, or "". The id is only a claim.
func LinkID(topic string) string {
	rest, ok := strings.CutPrefix(topic, linkPrefix)
	at := len(rest) - linkSize - 1
	if !ok || at < 1 || rest[at] != 0 || !ValidID(rest[:at]) {
		return ""
	}
	return rest[:at]
}

// Vouches tells whether a topic is the one that only the owner of the accepted key of its id can know.
func (m *Master) Vouches(topic string) bool {
	id := LinkID(topic)
	if id == "" {
		return false
	}
	pub, ok := m.opt.Keys.Accepted(id)
	return ok && subtle.ConstantTimeCompare([]byte(topic[len(topic)-linkSize:]), m.linkMAC(id, pub)) == 1
}
