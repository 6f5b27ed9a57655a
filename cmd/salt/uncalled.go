package salt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/modules/text/printable"
	"brine/wire/client"
)

// These bounds limit a line about returners, whose names come from minions.
const (
	uncalledMinions = 10   // the line names so many minions and counts the others
	uncalledText    = 1000 // bytes of returner names
)

// uncalled maps the names of returners to the minions that did not call them. Unlike Salt: there only the
// minion logs this.
type uncalled map[string][]string

// see notes the returners that a return names as not called. Minions of real Salt name none.
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

// lines returns a line for each set of returners.
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
