package file

import "brine/modules/loader"

// edits are the states of what is in a file.
func edits() []loader.Func { return nil }
