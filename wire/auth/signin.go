package auth

import (
	"time"

	"brine/wire/payload"
)

// Handle answers one sign-in (see IsSignIn). The reply is a packed frame, whatever the request holds; the
// outcome says what happened to the key.
func (m *Master) Handle(req *payload.Request, now time.Time) (reply []byte, outcome Outcome) {
	return nil, Outcome{}
}
