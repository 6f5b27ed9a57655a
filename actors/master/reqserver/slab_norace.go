//go:build !race

package reqserver

// slabsOutside tells whether rooms for large answers lie outside of Go's heap.
const slabsOutside = true
