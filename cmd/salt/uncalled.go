package salt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/modules/text/printable"
	"brine/wire/client"
)

// Bounds of a line about returners, whose names come from minions.
const (
	uncalledMinions = 10   // that are named, the others are counted
	uncalledText    = 1000 // bytes of names of returners
)

// uncalled are minions by the returners that they have not called. Unlike Salt, whose minions only log it.
type uncalled map[string][]string

// see takes what a return says. Real Salt's minions say nothing.
func (u *uncalled) see(ret client.Return) {
	if ret.Data == nil {
		return
	}
	names := ret.Data.Uncalled()
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	if *u == nil {
		*u = uncalled{}
	}
	text := strings.Join(names, ", ")
	if len(text) > uncalledText {
		text = text[:uncalledText] + "..."
	}
	(*u)[text] = append((*u)[text], ret.ID)
}

// lines say it, a line for each set of returners.
func (u uncalled) lines() (out []string) {
	for _, names := range slices.Sorted(maps.Keys(u)) {
		ids := slices.Sorted(slices.Values(u[names]))
		more := ""
		if n := len(ids) - uncalledMinions; n > 0 {
			ids, more = ids[:uncalledMinions], fmt.Sprintf(" and %d more", n)
		}
		out = append(out, printable.Line(fmt.Sprintf("%s%s: returners not called: %s", strings.Join(ids, ", "), more,
			names)))
	}
	return out
}
