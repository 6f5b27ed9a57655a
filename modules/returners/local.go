package returners

import (
	"fmt"
	"io"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// localFunctions print to the terminal of the daemon, as Python prints a map.
func localFunctions(w io.Writer) []loader.Func {
	show := func(v any) error {
		_, err := fmt.Fprintln(w, python.Repr(v))
		return err
	}
	return []loader.Func{
		taker("local", `Print the return on the terminal of the minion, to see that returners are called.

CLI Example:

    salt '*' test.ping --return local`, func(_ *loader.Call, ret *payload.Map) error { return show(ret) }),
		listener("local", `Print events on the terminal of the master.`, func(_ *loader.Call, events []any) error {
			return show(events)
		}),
	}
}
