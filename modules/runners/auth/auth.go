// Package auth is the runner module auth: it makes eauth tokens. Answers to salt/runners/auth.py.
package auth

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module auth.
func Module(o runners.Options) loader.Module {
	return loader.Module{File: "auth", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("mk_token", makeToken(o.Token),
				"Make an eauth token for a user, from the credentials that the backend wants.",
				"salt-run auth.mk_token username=saltdev password=saltdev eauth=auto"),
		}
	}}
}

type credentials struct {
	KW *payload.Map `arg:"**kwargs"`
}

// makeToken gives the token, or {} to who is not known, as Salt's does.
func makeToken(token func(*payload.Map) (*payload.Map, error)) func(*loader.Call, credentials) (*payload.Map, error) {
	return func(_ *loader.Call, a credentials) (*payload.Map, error) {
		if token == nil {
			return nil, runners.Unavailable("store of tokens")
		}
		fields := payload.NewMap(a.KW.Len())
		for k, v := range a.KW.All() {
			if name, ok := k.(string); ok && !strings.HasPrefix(name, "__") {
				fields.Set(name, v)
			}
		}
		return token(fields)
	}
}
