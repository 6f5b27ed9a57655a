package runners

import (
	"brine/modules/loader"
	"brine/wire/payload"
)

// funMakeToken is called with a password.
const funMakeToken = "auth.mk_token"

// toldOf are the keywords of a run as events and job caches tell them. Unlike Salt: without the password of who wants a token.
func toldOf(fun string, kw *payload.Map) *payload.Map {
	if fun != funMakeToken || !kw.Has("password") {
		return kw
	}
	return kw.Clone().Set("password", "********")
}

func (r *runner) authFuncs() []loader.Func {
	return []loader.Func{
		{Name: funMakeToken, KWArgs: true, Source: "salt/runners/auth.py", Run: r.makeToken,
			Doc: "Make an eauth token for a user, from the credentials that the backend wants.\n\nCLI Example:\n\n" +
				"    salt-run auth.mk_token username=saltdev password=saltdev eauth=auto"},
	}
}

// makeToken gives the token, or {} to who is not known, as Salt's does.
func (r *runner) makeToken(_ *loader.Call, a loader.Args) (any, error) {
	if r.Token == nil {
		return nil, unavailable("store of tokens")
	}
	fields := payload.NewMap(a.KW.Len())
	for k, v := range a.KW.All() {
		if name, ok := k.(string); ok && (len(name) < 2 || name[:2] != "__") {
			fields.Set(name, v)
		}
	}
	return r.Token(fields)
}
