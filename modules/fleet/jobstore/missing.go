package jobstore

import (
	"errors"
	"io/fs"
)

// ignoreMissing is err, but for the error of a file that is not there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
