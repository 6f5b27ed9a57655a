//go:build !linux

package jobstore

// spread has nothing to ask for on this system.
func spread(string) {}
