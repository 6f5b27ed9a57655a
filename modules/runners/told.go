package runners

import "brine/wire/payload"

// funMakeToken is called with a password.
const funMakeToken = "auth.mk_token"

// toldOf are the keywords of a run as events and job caches tell them. Unlike Salt: without the password of who wants a
// token.
func toldOf(fun string, kw *payload.Map) *payload.Map {
	if fun != funMakeToken || !kw.Has("password") {
		return kw
	}
	return kw.Clone().Set("password", "********")
}
