package access

import (
	"brine/modules/eauth"
	"brine/wire/payload"
)

// Login is what came of the external authentication of a request.
type Login struct {
	ID  *eauth.Identity
	Err error
}

// LoginFields are the fields of a load in clear that authenticate it: a publication carries a token and external
// authentication in its kwargs.
func LoginFields(load *payload.Map) *payload.Map {
	if payload.Command(load) == payload.CmdPublish {
		if kwargs := payload.NewPublishRequest(load).Sent(); eauth.KindOf(kwargs) != eauth.KindUser {
			return kwargs
		}
	}
	return load
}

// LogsIn tells whether a load in clear is to be authenticated by a backend before it is served.
func LogsIn(load *payload.Map) bool {
	switch payload.Command(load) {
	case payload.CmdPublish, payload.CmdRunner, payload.CmdWheel:
		return eauth.KindOf(LoginFields(load)) == eauth.KindEauth
	}
	return false
}
