package netapi

import (
	"errors"
	"math/big"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// ErrUnexpected is a request that Salt's servers die of: the answer says no more than that (500).
var ErrUnexpected = errors.New("netapi: unexpected error")

// Lowstate makes the list of chunks of what a body holds: one map is a list of it.
func Lowstate(data any) ([]any, error) {
	switch v := data.(type) {
	case []any:
		return v, nil
	case *payload.Map:
		if v.Len() > 0 {
			return []any{v}, nil
		}
	}
	return nil, BadRequest("Lowstates must be a list")
}

// Chunk prepares one element of a lowstate. token and client, when not empty, take the place of what stands there.
// Errors: 401 for a token that cannot be one, ErrUnexpected for what is no map. The map of the caller is not changed.
func Chunk(element any, client, token string) (*payload.Map, error) {
	m, ok := element.(*payload.Map)
	if !ok {
		return nil, ErrUnexpected
	}
	low := m.Clone()
	if token != "" {
		low.Set("token", token)
	}
	if v, has := low.Get("token"); has && !Hex(v) {
		return nil, Unauthorized("Invalid token")
	}
	if client != "" {
		low.Set("client", client)
	}
	if v, has := low.Get("arg"); has {
		if _, list := v.([]any); !list {
			low.Set("arg", []any{v})
		}
	}
	return low, nil
}

// maxToken is the longest text that may be a token; those of Salt have 128 digits at most.
const maxToken = 1024

// Hex says whether a value is a text that Python reads as a number of base 16.
func Hex(v any) bool {
	text, ok := v.(string)
	if !ok || len(text) > maxToken {
		return false
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		text = text[1:]
	}
	if t := strings.ToLower(text); strings.HasPrefix(t, "0x") {
		text = strings.TrimPrefix(t[2:], "_")
	}
	if text == "" || strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") ||
		strings.ContainsAny(text, "+-") {
		return false
	}
	_, ok = new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 16)
	return ok
}

// Rules are what a configuration says about who may be asked.
type Rules struct {
	Enabled  []any // netapi_enable_clients
	RawShell bool  // netapi_allow_raw_shell
}

// Check checks a chunk before it is run and returns its client (salt/netapi/__init__.py, NetapiClient.run).
func (r Rules) Check(low *payload.Map) (string, error) {
	client := low.Value("client")
	if !known(client) {
		return "", BadRequest("Invalid client specified: '" + python.Str(client) + "'")
	}
	name, _ := client.(string)
	if !contains(r.Enabled, name) {
		return "", BadRequest("Client disabled: '" + name + "'. Add to 'netapi_enable_clients' master config option " +
			"to enable.")
	}
	if !low.Has("token") && !low.Has("eauth") {
		return "", Unauthorized("No authentication credentials given")
	}
	if python.Truth(low.Value("raw_shell")) && !r.RawShell {
		return "", Unauthorized("Raw shell option not allowed.")
	}
	return name, nil
}

func contains(list []any, name string) bool {
	for _, v := range list {
		if v == name {
			return true
		}
	}
	return false
}
