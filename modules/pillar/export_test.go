package pillar

import "brine/modules/loader"

// NewRegistry makes the functions that templates call. The tests outside of this package set it: the functions of
// masters stand on this package.
var NewRegistry func() *loader.Registry
