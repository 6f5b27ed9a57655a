package masterlink

import (
	"fmt"

	"brine/modules/printable"
	"brine/wire/payload"
)

// ReasonLine is one reason in a line, whatever a minion has put into it.
func ReasonLine(r *payload.Map) string {
	return printable.Line(fmt.Sprintf("%s: %s [%s]", r.Str("minion"), r.Str("text"), r.Str("code")))
}
