package file

import "brine/modules/loader"

// filesystem are the states of whole files, directories and links.
func filesystem() []loader.Func { return nil }
