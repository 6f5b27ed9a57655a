package auth

import (
	"fmt"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Cause is the kind of a refusal. What is to be done about it depends on this and not on the words.
type Cause int

// The causes that are told apart.
const (
	CauseOther   Cause = iota
	CauseVersion       // of the protocol (minimum_auth_version)
	CauseClock         // the request is too old (request_server_ttl)
	CauseWeakKey       // others could break the key (allow_weak_keys)
	CauseSpoilt        // what is stored as the accepted key is none
)

// Why is why a request is refused: the kind, and the words for people.
type Why struct {
	Cause Cause
	Text  string
}

// refusal is why a request is not served: the text for the peer and the reason for the log.
type refusal struct {
	text  string
	why   Why
	known bool // the sender is who it says: the answer is sealed, see toKnown
}

func badLoad(why string) *refusal { return badAs(CauseOther, why) }

func badAs(cause Cause, why string) *refusal {
	return &refusal{text: payload.TextBadLoad, why: Why{cause, why}}
}

// toKnown is the answer to who is known: nil, or for an event the reason, which its sender may be told (payload.Taken).
func (r *refusal) toKnown(cmd string) any {
	if cmd != payload.CmdMinionEvent {
		return nil
	}
	return "refused: " + r.why.Text
}

// packed returns the frame that sends the text.
func (r *refusal) packed() []byte { return packText(r.text) }

func packText(text string) []byte { return mustPack(text) }

// mustPack packs a value made of parts that always have a msgpack form. Anything else is answered with the
// text for a handler that failed, so that the peer gets a reply.
func mustPack(v any) []byte {
	b, err := payload.Marshal(v)
	if err != nil {
		return packText(payload.TextHandlerFailed)
	}
	return b
}

// screen makes the checks that come before a request is decrypted.
func (m *Master) screen(req *payload.Request) *refusal {
	if req.Version < m.opt.MinimumAuthVersion {
		return badAs(CauseVersion, "protocol version "+strconv.Itoa(req.Version)+" is below minimum_auth_version")
	}
	if req.Enc != payload.EncClear && req.Enc != payload.EncAES {
		return badLoad("unknown enc") // Unlike Salt: releases differ, some take it for decrypted
	}
	return nil
}

// screenLoad makes the checks on every load in clear, and returns it as a map with its id, "" when it has none.
func screenLoad(v any) (load *payload.Map, id string, r *refusal) {
	load, ok := v.(*payload.Map)
	if !ok {
		return nil, "", &refusal{text: payload.TextNotDict, why: Why{Text: "load is no map"}}
	}
	raw, ok := load.Get("id")
	if !ok {
		return load, "", nil
	}
	if id, ok = raw.(string); !ok {
		text := payload.TextBadLoad // Unlike Salt: a container passes there
		if s, scalar := scalarText(raw); scalar {
			text = fmt.Sprintf(payload.TextIDNotString, s)
		}
		return nil, "", &refusal{text: text, why: Why{Text: "id is no text"}}
	}
	if strings.Contains(id, "\x00") {
		return nil, "", &refusal{text: payload.TextNullByte, why: Why{Text: "id with a NUL"}}
	}
	return load, id, nil
}

// scalarText is str() of a scalar as Python writes it.
func scalarText(v any) (text string, scalar bool) {
	switch v.(type) {
	case nil, string, bool, int64, uint64, float64:
		return python.Str(v), true
	}
	return "", false
}
