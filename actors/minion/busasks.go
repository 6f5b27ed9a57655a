package minion

import (
	"brine/wire/payload"
	"brine/wire/python"
)

// What functions and local tools ask of the minion by events, read where the events come in. Salt's are Python, and
// take a field for what it is worth there: any type may stand for yes or no.

// asks tells whether a field is there and says yes.
func asks(data *payload.Map, field string) bool { return python.Truth(data.Value(field)) }

// environ is a change of the environment (environ.setenv): values by name. set is nil when the event has no map of
// them, and then nothing is changed.
type environ struct {
	set         *payload.Map
	clear       bool // all that there is
	falseUnsets bool // the value False removes a name, else it makes it empty
}

func readEnviron(data *payload.Map) environ {
	return environ{set: data.Map("environ"), clear: asks(data, "clear_all"), falseUnsets: asks(data, "false_unsets")}
}

// toFire is an event, or several, for the masters' buses. All goes on as it came.
type toFire struct{ tag, data, events, pretag any }

func readToFire(data *payload.Map) toFire {
	return toFire{tag: data.Value("tag"), data: data.Value("data"), events: data.Value("events"),
		pretag: data.Value("pretag")}
}

// unstamped is the data of an event without what the bus has added.
func unstamped(data *payload.Map) *payload.Map {
	out := data.Clone()
	out.Delete("_stamp")
	return out
}
