// Package file_roots is the wheel module file_roots: it shows and writes the files of file_roots. Answers to
// salt/wheel/file_roots.py.
package file_roots

import (
	"brine/modules/loader"
	"brine/modules/wheel"
)

// Module is the module file_roots.
func Module() loader.Module {
	return loader.Module{File: "file_roots", Virtual: loader.Always, Funcs: wheel.FileRoots}
}
