package batch

import (
	"regexp"
	"slices"
	"strings"
)

// Whole means just the minions of a batch.
//
// Unlike Salt: it is sent in place of the list of their ids. That goes to every minion of the master, each of which
// takes it apart: with ten thousand minions it is a gigabyte, and all that the master does for a while.
type Whole struct {
	Tgt  any
	Kind string
}

// Limits of a target that leaves somebody out: so many ids, and one of so many that are in.
const (
	mostLeftOut = 100
	leftOutOf   = 10
)

// WholeOf finds the target for those minions that are up, of all that tgt means to the master; nil when only a list
// will do. Where few do not answer, they are left out by name.
func WholeOf(tgt any, kind string, all, up, down []string) *Whole {
	both := slices.Sorted(slices.Values(slices.Concat(up, down)))
	if kind == "list" || !slices.Equal(both, slices.Sorted(slices.Values(all))) {
		return nil
	}
	if len(down) == 0 {
		return &Whole{tgt, kind}
	}
	glob, _ := tgt.(string)
	if kind != "glob" || len(down) > mostLeftOut || len(down)*leftOutOf > len(up) || !isPlainWord(glob) ||
		slices.ContainsFunc(down, func(id string) bool { return !isPlainWord(id) }) {
		return nil
	}
	return &Whole{glob + " and not L@" + strings.Join(slices.Sorted(slices.Values(down)), ","), "compound"}
}

// plainWord has nothing in it that means more in a compound target than in a glob.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_.:*?-]+$`)

// isPlainWord tells whether a glob or an id is a word of a compound target that means the same.
func isPlainWord(w string) bool {
	return plainWord.MatchString(w) && w != "and" && w != "or" && w != "not"
}
