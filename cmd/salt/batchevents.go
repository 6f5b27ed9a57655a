package salt

import (
	"time"

	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Map is the state as it lies on disk and travels in events (runtime.md 14.4 names the keys).
func (b *batchState) Map() *payload.Map {
	waits := make([]any, len(b.waits))
	for i, t := range b.waits {
		waits[i] = epoch(t)
	}
	kwargs := b.kwargs
	if kwargs == nil {
		kwargs = payload.NewMap(0)
	}
	arg := b.arg
	if arg == nil {
		arg = []any{}
	}
	var reason any
	if b.reason != "" {
		reason = b.reason
	}
	return payload.M("jid", b.jid, "all_minions", payload.AnyList(b.all), "pending", payload.AnyList(b.pending), "active", b.active,
		"done", b.done, "failed", b.failed, "wait", waits, "batch_size", b.places, "fun", b.fun, "arg", arg, "kwargs", kwargs,
		"tgt", b.tgt, "tgt_type", b.tgtType, "failhard", b.failhard, "batch_wait", number(b.wait), "timeout", number(b.timeout),
		"gather_job_timeout", number(b.gather), "last_progress", epoch(b.last), "created", epoch(b.created),
		"halted", b.halted, "halted_reason", reason, "driver", b.driver, "ret", b.ret, "user", b.user)
}

// number is a duration in seconds: a whole number where it is one.
func number(d time.Duration) any {
	if d%time.Second == 0 {
		return int64(d / time.Second)
	}
	return d.Seconds()
}

// head is what every event of a batch says.
func (b *batchState) head() *payload.Map {
	return payload.M("jid", b.jid, "fun", b.fun, "tgt", b.tgt, "tgt_type", b.tgtType, "user", b.user)
}

// stateEvent tells the master the whole state of a batch that this tool drives.
func (b *batchState) stateEvent() *payload.Map {
	return b.head().Set("driver", b.driver).Set("state", b.Map())
}

// newEvent hands a batch to the master.
func (b *batchState) newEvent() *payload.Map {
	return b.head().Set("total_minions", len(b.all)).Set("batch_size", b.places).Set("driver", b.driver).Set("created", epoch(b.created))
}

// entry is a return as batches keep and show it: {ret[, out][, retcode][, jid]}.
func entry(data *payload.Map) *payload.Map {
	m := payload.M("ret", data.Value("return"))
	for _, key := range []string{"out", "retcode", "jid"} {
		if v, ok := data.Get(key); ok {
			m.Set(key, v)
		}
	}
	return m
}

// shownEntry is an entry as it is displayed, with the outputter it asks for: what came with the return, then the
// return under the minion's id.
func shownEntry(id string, data *payload.Map) (shown *payload.Map, out string) {
	shown = payload.NewMap(3)
	for k, v := range data.All() {
		switch k {
		case "ret":
		case "out":
			out = pytext.Str(v)
		default:
			shown.Set(k, v)
		}
	}
	return shown.Set(id, data.Value("ret")), out
}
