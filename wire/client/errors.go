package client

import (
	"errors"
	"fmt"
)

// What can go wrong before a job runs. The texts are for logs; a tool prints Salt's.
var (
	// ErrNoMaster means that no master runs here: publish_pull.ipc is missing in the socket directory.
	ErrNoMaster = errors.New("client: master not running here")
	// ErrTimeout means that the master did not answer a request, nor its repetitions.
	ErrTimeout = errors.New("client: request timed out")
	// ErrNoBus means that the master's event bus cannot be listened to.
	ErrNoBus = errors.New("client: event bus not reachable")
	// ErrEmptyReply means that the master answered nothing at all, which is how old masters refuse.
	ErrEmptyReply = errors.New("client: empty reply")
	// ErrMalformed means that a reply is none of the forms there are.
	ErrMalformed = errors.New("client: malformed reply")

	// ErrAuthentication means that the master does not know who asks.
	ErrAuthentication = errors.New("client: not authenticated")
	// ErrAuthorization means that who asks may not do that.
	ErrAuthorization = errors.New("client: not authorized")
)

// RemoteError is an error in the words of the master.
type RemoteError struct {
	Name    string // Salt's exception, e.g. AuthenticationError; "" when the reply was a bare text
	Message string
}

// Error is the master's text.
func (e *RemoteError) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Message
}

// Is makes errors.Is find ErrAuthentication and ErrAuthorization.
func (e *RemoteError) Is(target error) bool {
	switch e.Name {
	case "AuthenticationError", "TokenAuthenticationError", "EauthAuthenticationError", "UserAuthenticationError":
		return target == ErrAuthentication
	case "AuthorizationError":
		return target == ErrAuthorization
	}
	return false
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
