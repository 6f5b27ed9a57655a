package client

import (
	"errors"
	"fmt"
)

// Errors before a job runs. The texts are for logs; a tool prints Salt's.
var (
	// ErrNoMaster means that no master runs here: publish_pull.ipc is missing in the socket directory.
	ErrNoMaster = errors.New("client: master not running here")
	// ErrTimeout means that the master did not answer a request or any of its repetitions.
	ErrTimeout = errors.New("client: request timed out")
	// ErrNoBus means that the client cannot listen to the master's event bus.
	ErrNoBus = errors.New("client: event bus not reachable")
	// ErrEmptyReply means that the master's answer was empty. Old masters refuse in this way.
	ErrEmptyReply = errors.New("client: empty reply")
	// ErrMalformed means that a reply has an unknown form.
	ErrMalformed = errors.New("client: malformed reply")

	// ErrAuthentication means that the master does not know the user.
	ErrAuthentication = errors.New("client: not authenticated")
	// ErrAuthorization means that the user lacks the right for the request.
	ErrAuthorization = errors.New("client: not authorized")
)

// RemoteError is an error with the master's text.
type RemoteError struct {
	Name    string // Salt's exception, such as AuthenticationError; "" if the reply was a bare text
	Message string
}

// Error is the master's text.
func (e *RemoteError) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Message
}

// Is makes errors.Is match ErrAuthentication and ErrAuthorization.
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
