//go:build !linux

package conffile

import (
	"os"

	"brine/wire/disk/wholefile"
)

func read(path string) ([]byte, error) { return os.ReadFile(path) }

func write(path string, text []byte) error {
	return wholefile.Write(path, text, wholefile.Options{Mode: newMode, KeepMode: true, Follow: true, Sync: true})
}
