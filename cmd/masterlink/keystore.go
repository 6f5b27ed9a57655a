package masterlink

import (
	"errors"

	"brine/cmd/session"
	"brine/wire/crypt"
)

// ToldKeyCheck is a check of keys that logs what an operator can allow.
func ToldKeyCheck(s *session.Session, check func(pem string) error) func(pem string) error {
	return func(pem string) error {
		err := check(pem)
		if errors.Is(err, crypt.ErrWeakKey) {
			s.Log.Error("the key is not accepted; see allow_weak_keys", "err", err)
		}
		return err
	}
}
