package salt

import (
	"fmt"
	"strings"

	"brine/wire/client"
)

// tally counts the returns of a job for --summary and the exit code.
type tally struct {
	returned, silent int
	errors           []string // ids of minions whose exit code is not 0
	notConnected     []string
	notResponding    []string
	failed           bool // some exit code is not 0
}

// add counts one return as it is shown.
func (t *tally) add(ret client.Return, value any, code int) {
	t.failed = t.failed || code != 0
	if ret.Silence == client.Answered {
		t.returned++
		if code != 0 {
			t.errors = append(t.errors, ret.ID)
		}
		return
	}
	t.silent++
	if text, _ := value.(string); strings.Contains(text, "[Not connected]") {
		t.notConnected = append(t.notConnected, ret.ID)
	} else {
		t.notResponding = append(t.notResponding, ret.ID)
	}
}

const summaryRule = "-------------------------------------------\n"

// text returns the summary. If verbose is set, it names the minions as well.
func (t *tally) text(verbose bool) string {
	var b strings.Builder
	b.WriteString("\n\n" + summaryRule + "Summary\n" + summaryRule)
	fmt.Fprintf(&b, "# of minions targeted: %d\n", t.returned+t.silent)
	fmt.Fprintf(&b, "# of minions returned: %d\n", t.returned)
	fmt.Fprintf(&b, "# of minions that did not return: %d\n", t.silent)
	fmt.Fprintf(&b, "# of minions with errors: %d\n", len(t.errors))
	if verbose {
		for _, list := range []struct {
			title string
			ids   []string
		}{{"not connected", t.notConnected}, {"not responding", t.notResponding}, {"with failures", t.errors}} {
			if len(list.ids) > 0 {
				fmt.Fprintf(&b, "Minions %s: %s\n", list.title, strings.Join(list.ids, " "))
			}
		}
	}
	b.WriteString(summaryRule)
	return b.String()
}
