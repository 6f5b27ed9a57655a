package masterlink

import (
	"fmt"

	"brine/modules/text/printable"
	"brine/wire/control"
)

// ReasonLine writes one reason as one line, even if a minion's text contains line ends.
func ReasonLine(r control.Reason) string {
	return printable.Line(fmt.Sprintf("%s: %s [%s]", r.Minion, r.Text, r.Code))
}
