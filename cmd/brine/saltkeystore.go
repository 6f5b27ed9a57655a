package main

import (
	"errors"

	"brine/wire/crypt"
)

// told is a check of keys that logs what an operator can allow.
func (s *session) told(check func(pem string) error) func(pem string) error {
	return func(pem string) error {
		err := check(pem)
		if errors.Is(err, crypt.ErrWeakKey) {
			s.log.Error("the key is not accepted; see allow_weak_keys", "err", err)
		}
		return err
	}
}
