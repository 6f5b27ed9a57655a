package masterlink

import (
	"fmt"

	"brine/modules/text/printable"
	"brine/wire/control"
)

// ReasonLine is one reason in a line, whatever a minion has put into it.
func ReasonLine(r control.Reason) string {
	return printable.Line(fmt.Sprintf("%s: %s [%s]", r.Minion, r.Text, r.Code))
}
