//go:build race

package reqserver

// slabsOutside is false where the race detector watches: it knows Go's own memory only.
const slabsOutside = false
