package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// neverGot are the permitted reasons why a brine minion gave no return: the job did not reach it, so it did not
// run. Every other reason means that something was lost, or that nobody knows. JobUnopened is permitted because
// the master can give up a key, by a rotation or when it is killed, before a reconnecting minion learns the new
// one. The minion cannot open a publication with that key, as with Salt. JobNotReady is permitted because a
// minion drops the jobs that wait for a sign-in if it fails: a job must not begin long after its request.
var neverGot = map[string]bool{
	string(ledger.NotConnected): true, string(ledger.NeverReceived): true, string(ledger.NotSent): true,
	string(ledger.JobUnopened): true,
	string(ledger.JobNotReady): true,
}

// lines counts how often each job ran on a minion, by token.
func (f *fleet) lines(id string) map[string]int {
	ran := map[string]int{}
	raw, _ := os.ReadFile(f.effects(id)) // without a job there is no file
	for line := range strings.Lines(string(raw)) {
		token, who, _ := strings.Cut(strings.TrimSpace(line), " ")
		if who != id {
			f.t.Errorf("%s has a line %q", id, line)
		}
		ran[token]++
	}
	return ran
}

// checker checks the promises about the jobs of a round.
type checker struct {
	fleet *fleet
	ran   map[string]map[string]int  // runs by minion and token
	taken map[string]map[string]bool // jids of returns that the master has acknowledged, by Salt minion
	bad   []string
}

func (c *checker) errorf(format string, args ...any) {
	c.bad = append(c.bad, fmt.Sprintf(format, args...))
}

// checkJobs checks all jobs of a round. The fleet must be at rest.
func (f *fleet) checkJobs(ctx context.Context, jobs []*job) []string {
	c := &checker{fleet: f, ran: map[string]map[string]int{}, taken: map[string]map[string]bool{}}
	for _, m := range f.guests {
		c.taken[m.id] = f.thanked(m.id)
	}
	for _, id := range f.ids() {
		c.ran[id] = f.lines(id)
		for token, n := range c.ran[id] { // of this round and of earlier ones
			if n > 1 {
				c.errorf("job %s ran %d times on %s", token, n, id)
			}
		}
	}
	var jids []string
	for _, j := range jobs {
		f.report.job(j)
		if j.jid != "" {
			jids = append(jids, j.jid)
			c.check(ctx, j)
		}
	}
	twice, repeats, joins := f.bus.settle()
	for _, text := range twice {
		c.errorf("%s", text)
	}
	f.report.repeats += repeats
	f.report.joins += joins
	f.bus.forget(jids)
	return c.bad
}

// check checks one job with a known id.
func (c *checker) check(ctx context.Context, j *job) {
	f := c.fleet
	stored := f.ask(ctx, "cmd", "jobs.returns", "jid", j.jid)
	told := f.bus.of(j.jid)
	var silent []string
	for _, id := range j.wanted {
		ret, has := stored.Get(id)
		answer, _ := ret.(*payload.Map)
		n := c.ran[id][j.token]
		was, ok := told[id]
		switch {
		case ok && !has && f.guest(id):
			// a Salt minion may not try again if the master was killed before its answer
		case ok && !has:
			c.errorf("job %s (%s): the return of %s was told on the bus and is not stored: %.200s", j.jid, j.fun, id,
				was.outcome)
		case ok && outcomeOf(answer) != was.outcome:
			c.errorf("job %s (%s): %s was told as %.200q and stored as %.200q", j.jid, j.fun, id, was.outcome,
				outcomeOf(answer))
		}
		switch {
		case has:
			c.returned(j, id, answer)
		case c.taken[id][j.jid]:
			c.errorf("job %s (%s): the return of %s was acknowledged and is not stored", j.jid, j.fun, id)
		case f.deaf[id]:
			f.report.outcome("salt", "no return, and did not come back")
		case f.guest(id):
			f.report.outcome("salt", "no return")
		case n > 0:
			c.errorf("job %s ran on %s and has no return", j.jid, id)
		case j.acked:
			silent = append(silent, id)
		}
	}
	for k := range stored.All() {
		if id := fmt.Sprint(k); !slices.Contains(j.wanted, id) {
			c.errorf("job %s has a return of %s, for which it was not", j.jid, id)
		}
	}
	if len(silent) > 0 {
		c.explain(ctx, j, silent)
	}
}

// underWay are reasons of an unfinished job. The check waits for its end.
var underWay = map[string]bool{
	string(ledger.NoAnswer): true, string(ledger.Publishing): true, string(ledger.JobReceived): true,
	string(ledger.JobQueued): true, string(ledger.JobRunning): true, string(ledger.JobSpooled): true,
}

// returned checks a stored return.
func (c *checker) returned(j *job, id string, answer *payload.Map) {
	c.fleet.report.outcome(c.fleet.kindOf(id), resultOf(answer))
	if n := c.ran[id][j.token]; j.token != "" && answer.Bool("success") && n != 1 {
		c.errorf("job %s: %s says success, and it ran %d times", j.jid, id, n)
	}
}

// explain asks for the reason of each silence, until none of them is about an unfinished job.
func (c *checker) explain(ctx context.Context, j *job, silent []string) {
	f := c.fleet
	var last map[string]*payload.Map
	err := until(ctx, "reasons", func() error {
		last = map[string]*payload.Map{}
		for _, v := range f.ask(ctx, "cmd", "why", "jid", j.jid).List("reasons") {
			if one, ok := v.(*payload.Map); ok {
				last[one.Str("minion")] = one
			}
		}
		for _, id := range silent {
			if underWay[last[id].Str("code")] {
				return errors.New(id + ": " + last[id].Str("text"))
			}
			if last[id] == nil && !f.ask(ctx, "cmd", "jobs.returns", "jid", j.jid).Has(id) {
				return errors.New(id + ": no reason, and no return")
			}
		}
		return nil
	})
	if err != nil {
		c.errorf("job %s (%s): %v", j.jid, j.fun, err)
		return
	}
	for _, id := range silent {
		if last[id] == nil { // it has returned meanwhile
			ret, _ := f.ask(ctx, "cmd", "jobs.returns", "jid", j.jid).Get(id)
			answer, _ := ret.(*payload.Map)
			c.ran[id] = f.lines(id)
			c.returned(j, id, answer)
			continue
		}
		code := last[id].Str("code")
		f.report.outcome(f.kindOf(id), "no return: "+code)
		if !neverGot[code] {
			c.errorf("job %s (%s): %s has no return, and the reason is [%s] %s; facts %v", j.jid, j.fun, id, code,
				last[id].Str("text"), last[id].Value("facts"))
		}
	}
}

// kindOf is "brine" or "salt".
func (f *fleet) kindOf(id string) string {
	if f.guest(id) {
		return "salt"
	}
	return "brine"
}

// resultOf is the class of a return in the report.
func resultOf(ret *payload.Map) string {
	text, _ := ret.Value("return").(string)
	for _, class := range []string{"The job died on the minion", "The minion's process ended while the job was running",
		"The job was ended by signal", "The minion was stopped", "The job's process"} {
		if strings.HasPrefix(text, class) {
			return "returned: " + class
		}
	}
	if ret.Bool("success") {
		return "returned: success"
	}
	return "returned: failure"
}
