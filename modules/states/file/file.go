// Package file is the state module file: what is in files, and that there are files, directories and links. What
// changes a file is in the execution module of the same name. Answers to salt/states/file.py.
package file

import (
	"slices"

	"brine/modules/loader"
)

// Module is the state module file.
func Module() loader.Module {
	return loader.Module{File: "file", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(filesystem(), edits())
	}}
}
