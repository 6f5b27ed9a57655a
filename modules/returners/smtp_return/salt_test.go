//go:build interop

package smtp_return

import (
	"errors"
	"testing"

	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// Real Salt sends the mails that are recorded.
func TestSMTPBesideSalt(t *testing.T) {
	judge := returnertest.RealSalt(t)
	s := newMailServer(t, &mailServer{kinds: "LOGIN"})
	seen := cases(t, s, func(opts *payload.Map, fun string, arg any) error {
		if _, failed := judge.Call(t, opts, fun, arg); failed != "" {
			return errors.New(failed)
		}
		return nil
	})
	returnertest.Same(t, returnertest.Record(t, "smtp.json", seen).([]any), seen, 15)
	returnertest.Same(t, seen, cases(t, s, onBrine(t)), 15)
}
