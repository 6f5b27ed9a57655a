// Package netapi is what Salt's REST servers do with bytes and values: bodies of requests into lowstates, checks of a
// lowstate, negotiation of the type of an answer, its JSON or YAML, error pages. It opens no ports and asks no master
// (see actors/netapi). Answers to salt/netapi/__init__.py and salt/netapi/rest_cherrypy/app.py.
package netapi

import (
	"net/http"
	"slices"
)

// Error is what a client is to see of a failure: an HTTP status and one line.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

// Unauthorized is an error of somebody whom nobody knows, or who may not.
func Unauthorized(message string) *Error { return &Error{http.StatusUnauthorized, message} }

// BadRequest is an error of who asks.
func BadRequest(message string) *Error { return &Error{http.StatusBadRequest, message} }

// The clients of a lowstate, by Salt's names.
const (
	Local       = "local"
	LocalAsync  = "local_async"
	LocalBatch  = "local_batch"
	LocalSubset = "local_subset"
	Runner      = "runner"
	RunnerAsync = "runner_async"
	SSH         = "ssh"
	Wheel       = "wheel"
	WheelAsync  = "wheel_async"
)

// Clients lists them in the order in which they are shown. Unlike Salt 3008: without the method destroy, which stands
// there by accident.
func Clients() []any {
	return []any{Local, LocalAsync, LocalBatch, LocalSubset, Runner, RunnerAsync, SSH, Wheel, WheelAsync}
}

func known(client any) bool { return slices.Contains(Clients(), client) }

// MasterGone is what clients see while no master runs.
func MasterGone() *Error {
	return &Error{http.StatusServiceUnavailable, "Salt Master is not available."}
}

// Busy is what clients see when there is no room for one more of what they want.
func Busy(what string) *Error {
	return &Error{http.StatusServiceUnavailable, "Too many " + what + " at once, try again later."}
}
