//go:build !linux

package jobstore

// freeBytes is not known here.
func freeBytes(string) int64 { return -1 }
