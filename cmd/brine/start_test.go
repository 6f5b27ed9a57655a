package main

import (
	"os/exec"
	"testing"
)

// BenchmarkStart measures whole runs of short tools, including the start of the process. The test binary is
// bigger than brine's own, and links libzmq dynamically unless the build tag says otherwise.
func BenchmarkStart(b *testing.B) {
	conf := b.TempDir()
	for _, bb := range []struct {
		name string
		argv []string
	}{
		{"version", []string{"salt-key", "--version"}},
		{"list keys", []string{"salt-key", "-c", conf, "--log-file=" + conf + "/log", "-l", "acc"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(bb.argv[0], bb.argv[1:]...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %v\n%s", bb.argv, err, out)
				}
			}
		})
	}
}
