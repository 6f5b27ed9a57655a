//go:build !linux

package keys

import "errors"

// newWatch has no way to hear of changes on this system.
func newWatch([]string) (watch, error) { return nil, errors.ErrUnsupported }
