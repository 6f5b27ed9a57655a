package loader

import (
	"fmt"

	"brine/wire/payload"
)

// CommandExecutionError is a failure the caller is told of without a traceback: "ERROR: <text>".
type CommandExecutionError struct {
	Message string
	Changes *payload.Map // what was done all the same; nil where the function tells nothing of it
	Brief   string       // Message without the changes, for a state, which shows them itself; "": Message
}

func (e *CommandExecutionError) Error() string { return e.Message }

// CommandNotFoundError means a program the function needs is not installed.
type CommandNotFoundError struct{ Message string }

func (e *CommandNotFoundError) Error() string { return e.Message }

// InvocationError means the function was called in a wrong way (SaltInvocationError).
type InvocationError struct {
	Message string
	Class   string // the class of Python, where it is one below SaltInvocationError; "": that itself
}

func (e *InvocationError) Error() string { return e.Message }

// ClientError means the master could not be asked (SaltClientError).
type ClientError struct{ Message string }

func (e *ClientError) Error() string { return e.Message }

// ArgumentError is a TypeError of Python: arguments that do not fit the signature, or values of a type the
// function cannot work with. Its text is Python's own.
type ArgumentError struct{ Message string }

func (e *ArgumentError) Error() string { return e.Message }

// NotAvailable means there is no such function. Its text is complete: "'x.y' is not available."
type NotAvailable struct{ Name, Message string }

func (e *NotAvailable) Error() string { return e.Message }

// Exception is any other exception of Python by its class name, as a traceback shows it ("ValueError",
// "salt.exceptions.PublishError").
type Exception struct{ Class, Message string }

func (e *Exception) Error() string { return e.Message }

// ExecErr makes a CommandExecutionError.
func ExecErr(format string, a ...any) error {
	return &CommandExecutionError{Message: fmt.Sprintf(format, a...)}
}

// InvocErr makes an InvocationError.
func InvocErr(format string, a ...any) error {
	return &InvocationError{Message: fmt.Sprintf(format, a...)}
}

// Raise makes an Exception of a class.
func Raise(class, format string, a ...any) error {
	return &Exception{Class: class, Message: fmt.Sprintf(format, a...)}
}
