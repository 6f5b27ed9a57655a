package jobs

import (
	"errors"
	"io/fs"
	"strings"

	"brine/actors/minion/staterun"
	"brine/modules/fleet/ledger"
	"brine/modules/states/run/journal"
	"brine/supervisor"
	"brine/wire/payload"
)

// exitStates is the exit code of a run of states that failed (EX_STATE_FAILURE).
const exitStates = 2

// runsStates tells whether the function of a job may make a run of states.
func runsStates(job *payload.Job) bool { return strings.HasPrefix(job.Function(), "state.") }

// nest makes the place of the actors of a run of states below the actor of its job.
func (j *job) nest(ctx supervisor.Context) {
	if runsStates(j.rec.job) {
		j.states = staterun.New(supervisor.Nest(ctx, supervisor.Options{}), func(what string) {
			j.note(func(m *ledger.Minion, _ ledger.Stamp) {
				if m.Outcome == ledger.OutcomeNone { // else somebody has ended the job meanwhile
					m.Detail = what
				}
			})
		})
	}
}

// interrupted is the return of a run of states whose job has none: the returns that were reached, and what became of
// the other states. finished tells that the run had come to its end, and only its return was lost. It is nil for a job
// that had made no run yet, or is none.
func (o *jobOptions) interrupted(job *payload.Job, why string) (states *payload.Map, finished bool) {
	if !runsStates(job) {
		return nil, false
	}
	past, err := journal.Read(o.cacheDir, job.JID())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			o.log.Error("the journal of a run of states cannot be read", "jid", job.JID(), "err", err)
		}
		return nil, false
	}
	return past.Answer(why), past.Finished
}

// forget removes the journal of a run of states whose return is safe. That of one that was interrupted stays for
// state.resume_run.
func (o *jobOptions) forget(job *payload.Job) {
	if !runsStates(job) {
		return
	}
	past, err := journal.Read(o.cacheDir, job.JID())
	if err == nil && past.Finished {
		err = journal.Remove(o.cacheDir, job.JID())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.log.Error("the journal of a run of states stays", "jid", job.JID(), "err", err)
	}
}
