package batch

import (
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// Map is the state as it lies on disk and travels in events, with the keys of Salt.
func (b *State) Map() *payload.Map {
	waits := make([]any, len(b.waits))
	for i, t := range b.waits {
		waits[i] = epoch(t)
	}
	kwargs := b.Kwargs
	if kwargs == nil {
		kwargs = payload.NewMap(0)
	}
	arg := b.Arg
	if arg == nil {
		arg = []any{}
	}
	var reason any
	if b.reason != "" {
		reason = b.reason
	}
	return payload.M("jid", b.JID, "all_minions", payload.AnyList(b.all), "pending", payload.AnyList(b.pending),
		"active", b.active, "done", b.done, "failed", b.failed, "wait", waits, "batch_size", b.places, "fun", b.Fun,
		"arg", arg, "kwargs", kwargs, "tgt", b.Tgt, "tgt_type", b.TgtType, "failhard", b.Failhard, "batch_wait",
		number(b.Wait), "timeout", number(b.Timeout), "gather_job_timeout", number(b.Gather), "last_progress",
		epoch(b.last), "created", epoch(b.created), "halted", b.halted, "halted_reason", reason, "driver", b.Driver,
		"ret", b.Ret, "user", b.User)
}

// number is a duration in seconds: a whole number where it is one.
func number(d time.Duration) any {
	if d%time.Second == 0 {
		return int64(d / time.Second)
	}
	return d.Seconds()
}

// head is what every event of a batch says.
func (b *State) head() *payload.Map {
	return payload.M("jid", b.JID, "fun", b.Fun, "tgt", b.Tgt, "tgt_type", b.TgtType, "user", b.User)
}

// StateEvent tells the master the whole state of a batch that this tool drives.
func (b *State) StateEvent() *payload.Map {
	return b.head().Set("driver", b.Driver).Set("state", b.Map())
}

// NewEvent hands a batch to the master.
func (b *State) NewEvent() *payload.Map {
	return b.head().Set("total_minions", len(b.all)).Set("batch_size", b.places).Set("driver", b.Driver).Set("created",
		epoch(b.created))
}

// EntryValue is the field of an entry with what the function returned.
const EntryValue = "ret"

// Entry is a return as batches keep and show it: {ret[, out][, retcode][, jid]}.
func Entry(ret *payload.Return) *payload.Map {
	m := payload.M(EntryValue, ret.Value())
	ret.Pass(m, payload.FieldOut, payload.FieldRetcode, payload.FieldJID)
	return m
}

// Shown is an entry as it is displayed, with the outputter it asks for: what came with the return, then the
// return under the minion's id.
func Shown(id string, data *payload.Map) (shown *payload.Map, out string) {
	shown = payload.NewMap(3)
	for k, v := range data.All() {
		switch k {
		case EntryValue:
		case payload.FieldOut:
			out = python.Str(v)
		default:
			shown.Set(k, v)
		}
	}
	return shown.Set(id, data.Value(EntryValue)), out
}
