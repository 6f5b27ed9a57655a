package main

import (
	"fmt"

	"brine/modules/printable"
	"brine/wire/payload"
)

// reasonLine is one reason in a line, whatever a minion has put into it.
func reasonLine(r *payload.Map) string {
	return printable.Line(fmt.Sprintf("%s: %s [%s]", r.Str("minion"), r.Str("text"), r.Str("code")))
}
