//go:build interop

package execution_test

import (
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/grains"
	"brine/wire/payload"
)

// TestHostsAgainstSalt runs hosts.txt, and what only this host can answer, in an installed Salt 3008 and here.
func TestHostsAgainstSalt(t *testing.T) {
	for _, file := range []string{hostCalls, "testdata/thishost.txt"} {
		calls := readCalls(t, file)
		theirs, ours := confDir(t), confDir(t)
		populate(t, theirs)
		real := runSalt(t, theirs, calls)
		if *record && file == hostCalls {
			writeRecord(t, hostAnswers, calls, real, theirs)
		}
		populate(t, ours)
		env, log := ownEnv(t, ours, func(opts *payload.Map) *payload.Map {
			return grains.New(grains.Options{Version: "3008.3", Opts: opts}, all.Grains()).Map()
		})
		for i, c := range calls {
			c.words = inDir(c.words, ours)
			got, want := runHere(t, env, log, c).String(), strings.ReplaceAll(real[i].String(), theirs, ours)
			if got != want && c.mark == 0 {
				t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, want)
			}
		}
	}
}
