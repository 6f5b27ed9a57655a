//go:build cgo

package sqlstore

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// refusedBySQLite says whether the file will never take what it was given: values that are too large, or for which the
// table has no place. Locks, full disks and missing tables end.
func refusedBySQLite(err error) bool {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == sqlite3.ErrTooBig || e.Code == sqlite3.ErrConstraint || e.Code == sqlite3.ErrMismatch ||
		e.Code == sqlite3.ErrRange
}
