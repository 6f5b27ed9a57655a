// Package pillar_roots is the wheel module pillar_roots: it shows and writes the files of pillar_roots. Answers to
// salt/wheel/pillar_roots.py.
package pillar_roots

import (
	"brine/modules/loader"
	"brine/modules/wheel"
)

// Module is the module pillar_roots.
func Module() loader.Module {
	return loader.Module{File: "pillar_roots", Virtual: loader.Always, Funcs: wheel.PillarRoots}
}
