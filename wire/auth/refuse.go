package auth

import (
	"fmt"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Cause is the kind of a refusal. Code decides by the cause and not by the words.
type Cause int

// The causes.
const (
	CauseOther   Cause = iota
	CauseVersion       // of the protocol (minimum_auth_version)
	CauseClock         // the request is too old (request_server_ttl)
	CauseWeakKey       // others could break the key (allow_weak_keys)
	CauseSpoilt        // the file of the accepted key does not hold a key
)

// Why is the reason of a refusal: its kind, and words for people.
type Why struct {
	Cause Cause
	Text  string
}

// refusal is the reason not to serve a request: the text for the peer and the reason for the log.
type refusal struct {
	text  string
	why   Why
	known bool // the sender is authentic: the answer is sealed, see toKnown
}

func badLoad(why string) *refusal { return badAs(CauseOther, why) }

func badAs(cause Cause, why string) *refusal {
	return &refusal{text: payload.TextBadLoad, why: Why{cause, why}}
}

// toKnown is the answer to an authentic sender: nil, or for an event the reason (payload.Taken).
func (r *refusal) toKnown(cmd string) any {
	if cmd != payload.CmdMinionEvent {
		return nil
	}
	return "refused: " + r.why.Text
}

// packed returns the frame with the text.
func (r *refusal) packed() []byte { return packText(r.text) }

func packText(text string) []byte { return mustPack(text) }

// mustPack packs a value whose parts always have a msgpack form. For any other value it packs the text for a handler
// that failed, so that the peer gets a reply.
func mustPack(v any) []byte {
	b, err := payload.Marshal(v)
	if err != nil {
		return packText(payload.TextHandlerFailed)
	}
	return b
}

// screen makes the checks before a request is decrypted.
func (m *Master) screen(req *payload.Request) *refusal {
	if req.Version < m.opt.MinimumAuthVersion {
		return badAs(CauseVersion, "protocol version "+strconv.Itoa(req.Version)+" is below minimum_auth_version")
	}
	if req.Enc != payload.EncClear && req.Enc != payload.EncAES {
		return badLoad("unknown enc") // Unlike Salt: releases differ, some treat it as decrypted
	}
	return nil
}

// screenLoad makes the checks for every decrypted load or load in clear. It returns it as a map with its id, or "".
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
