// Package packedfile keeps a value in a file of its own, in msgpack, as Salt's job cache and data cache do. It knows no
// names and no folders. Answers to salt/payload.py (loads, dumps) with salt/utils/atomicfile.py.
package packedfile

import (
	"errors"
	"fmt"
	"os"

	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// ErrDamaged means that a file does not hold what it should.
var ErrDamaged = errors.New("the file is damaged")

// Write packs a value into a file, which readers find whole or not at all.
func Write(file string, v any, how wholefile.Options) error {
	b, err := payload.MarshalBin(v)
	if err != nil {
		return fmt.Errorf("pack %s: %w", file, err)
	}
	return wholefile.Write(file, b, how)
}

// Read returns the value of a file. One that is empty or no msgpack gives ErrDamaged and is named.
func Read(file string) (any, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	v, err := payload.UnmarshalBin(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", file, ErrDamaged, err)
	}
	return v, nil
}
