//go:build !race

package master

// slabsOutside tells whether rooms for large answers lie outside of Go's heap.
const slabsOutside = true
