//go:build !interop

package chaos

import "context"

// invite adds minions of Salt, which exist only with the build tag interop.
func (f *fleet) invite() {}

// restOfGuests waits until the Salt minions have answered all jobs that they had begun.
func (f *fleet) restOfGuests(context.Context) error { return nil }

// backOfGuests waits until the Salt minions answer.
func (f *fleet) backOfGuests(context.Context) error { return nil }

// thanked returns the jobs of a Salt minion whose returns the master has acknowledged.
func (f *fleet) thanked(string) map[string]bool { return nil }
