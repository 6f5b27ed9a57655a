// Package package_ holds the grain of how the program was installed. Answers to salt/grains/package.py.
package package_

import (
	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of package.
func Module() grains.Module {
	return grains.Module{File: "package", Groups: func(*grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "package", Keys: []string{"package"}, Run: kind},
		}
	}}
}

// kind tells how the program was installed; a single file has no packaging to speak of.
func kind() *payload.Map { return payload.M("package", nil) }
