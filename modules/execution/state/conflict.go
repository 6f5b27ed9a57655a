package state

import (
	"fmt"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// watching are the state modules of Salt 3008.3 that have a function for watch (mod_watch).
var watching = []string{"at", "cmd", "etcd", "event", "module", "mount", "pkg", "service", "test"}

// conflicts names the functions of states that run at the moment, in Salt's words; nil when none does, or the call may
// run beside them.
func conflicts(c *loader.Call, a shown) (out []string) {
	if c.Host().Jobs == nil || python.Truth(a.KW.Value("concurrent")) {
		return nil
	}
	for _, job := range c.Host().Jobs.Running() {
		jid := python.Str(job.Value("jid"))
		if jid == c.JID || !isRun(job) {
			continue
		}
		started := "None"
		if at, ok := payload.JIDTime(jid); ok {
			started = at.Format("2006, Jan 02 15:04:05.000000")
		}
		out = append(out, fmt.Sprintf("The function %q is running as PID %s and was started at %s with jid %s",
			job.Str("fun"), python.Str(job.Value("pid")), started, jid))
	}
	return out
}

// isRun tells whether a job runs a function of states.
func isRun(job *payload.Map) bool { return strings.HasPrefix(job.Str("fun"), "state.") }
