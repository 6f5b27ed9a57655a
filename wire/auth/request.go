package auth

import (
	"time"

	"brine/wire/payload"
)

// Opened is a request that passed every check that does not depend on its command.
type Opened struct {
	Load    *payload.Map // without nonce (sealed requests above version 1) and tok; ts stays
	Cmd     string       // the load's command, "" when it has none
	ID      string       // the load's id, "" when it has none
	Version int
	Clear   bool // came with enc clear: a command line or API client
	// TokenOK means that the token of ID was checked: always with version 3. Commands for which NeedsToken
	// holds should not be trusted without.
	TokenOK          bool
	EncAlgo, SigAlgo string // as the envelope names them, Salt's defaults when it does not

	nonce any // nil when the load had none
	seal  func(packed []byte) []byte
}

// Seal returns the reply frame for the packed answer of the command's handler. A clear request's answer goes
// out as it is.
func (o *Opened) Seal(packed []byte) []byte { return o.seal(packed) }

// OpenRequest decrypts and checks one request. Either opened is nil, and refuse is the packed text to send
// back, or refuse is nil. Sign-ins belong to Handle (see IsSignIn).
func (m *Master) OpenRequest(req *payload.Request, now time.Time) (opened *Opened, refuse []byte) {
	return nil, nil
}

// IsSignIn tells whether Handle answers a request.
func IsSignIn(req *payload.Request) bool {
	load, ok := req.Load.(*payload.Map)
	return ok && req.Enc == payload.EncClear && load.Str("cmd") == payload.CmdAuth
}
