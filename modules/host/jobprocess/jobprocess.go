// Package jobprocess runs the function of one job in a process of its own (multiprocessing: True): the same program,
// started anew. It holds both ends of the socket between that process and the minion, and what the two say there in
// msgpack. The minion's end starts the process, answers what its function asks of the minion, tells how it ended, and
// ends it with everything that it has started. The other end loads nothing but the functions; options, grains and
// pillar come with the job, and nothing of it stands in the command line or the environment. The package knows no
// actors and no queue (see actors/minion). It answers to salt/utils/process.py and Minion._target of salt/minion.py;
// why it is as it is stands in docs/decisions/0008.
package jobprocess

import (
	"slices"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Name is the name of the program in the command line of such a process. Salt's tools take a proc entry for real
// only if the command line of its pid contains "salt".
const Name = "salt-minion-job"

// Limits bound what each process of a job may take; 0 is no bound.
type Limits struct {
	Memory int64         // bytes of data, beyond what the program itself has at its start
	CPU    time.Duration // of processor time, whole seconds
}

// Outcome is what a job came to.
type Outcome struct {
	Return   *payload.Return // as it goes to the master; nil when the process ended without one
	NoReturn bool            // nothing is sent: the job was queued and runs again
	Crashed  bool            // the function raised an exception that Salt would report as a _salt_error event
	Death    Death           // without a return
}

// start is the first message to the process. The maps are packed: they are the same for many jobs.
type start struct {
	load                 *payload.Map
	id                   string
	connected            bool
	limits               Limits
	offers               []string      // members of loader.Host that the minion has
	limited              loader.Limits // of the functions that the minion offers
	provided             []loader.Provider
	opts, grains, pillar []byte
}

func (s start) message() []any {
	return []any{s.load, s.id, s.connected, s.limits.Memory, int64(s.limits.CPU), s.offers, s.limited.Disabled,
		s.limited.Whitelist, s.opts, s.grains, s.pillar, s.providers()}
}

// providers are the names and files of providers, one after the other.
func (s start) providers() (out []string) {
	for _, p := range s.provided {
		out = append(out, p.Name, p.File)
	}
	return out
}

func names(v any) (out []string) {
	list, _ := v.([]any)
	for _, o := range list {
		name, _ := o.(string)
		out = append(out, name)
	}
	return out
}

func readStart(m []any) (s start, ok bool) {
	if len(m) != 12 {
		return start{}, false
	}
	s.load, _ = m[0].(*payload.Map)
	s.id, _ = m[1].(string)
	s.connected, _ = m[2].(bool)
	s.limits.Memory, _ = m[3].(int64)
	cpu, _ := m[4].(int64)
	s.limits.CPU = time.Duration(cpu)
	s.offers, s.limited = names(m[5]), loader.Limits{Disabled: names(m[6]), Whitelist: names(m[7])}
	s.opts, s.grains, s.pillar = payload.AsBytes(m[8]), payload.AsBytes(m[9]), payload.AsBytes(m[10])
	for pair := range slices.Chunk(names(m[11]), 2) {
		s.provided = append(s.provided, loader.Provider{Name: pair[0], File: pair[len(pair)-1]})
	}
	return s, s.load != nil
}
