package masterlink

import (
	"errors"

	"brine/cmd/session"
	"brine/wire/crypt"
)

// ToldKeyCheck wraps a check of keys. It logs the option with which an operator can permit a refused key.
func ToldKeyCheck(s *session.Session, check func(pem string) error) func(pem string) error {
	return func(pem string) error {
		err := check(pem)
		if errors.Is(err, crypt.ErrWeakKey) {
			s.Log.Error("the key is not accepted; see allow_weak_keys", "err", err)
		}
		return err
	}
}
