//go:build !interop

package chaos

import "context"

// invite adds minions of Salt, which are there with the build tag interop only.
func (f *fleet) invite() {}

// restOfGuests waits until minions of Salt have answered what they had begun.
func (f *fleet) restOfGuests(context.Context) error { return nil }

// backOfGuests waits until minions of Salt answer.
func (f *fleet) backOfGuests(context.Context) error { return nil }

// thanked lists the jobs of a minion of Salt whose returns the master has acknowledged.
func (f *fleet) thanked(string) map[string]bool { return nil }
