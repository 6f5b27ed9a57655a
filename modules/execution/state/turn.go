package state

import (
	"slices"
	"time"

	"brine/modules/loader"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// turn waits until the run may begin, where the keyword queue or the option state_queue wants that. answer is what the
// function returns if it may not: which runs are in its way.
//
// Unlike Salt: with queue=True the job waits where it is, as in Salt 3007, and is seen as one that runs. Salt 3008 ends
// it without a return and starts it again later.
func turn(c *loader.Call, queue any, kw *payload.Map) (answer any, err error) {
	if queue == nil {
		queue = c.Opts().Value("state_queue")
	}
	if most, ok := waits(queue); ok {
		before := earlier(c)
		if most == 0 || len(before) < most {
			return nil, untilOver(c)
		}
	}
	if conflict := conflicts(c, shown{KW: kw}); conflict != nil {
		return refuse(c, conflict), nil
	}
	return nil, nil
}

// waits tells whether a run waits for others, and for how many at most; 0 is any number.
func waits(queue any) (most int, ok bool) {
	switch q := queue.(type) {
	case bool:
		return 0, q
	case int64:
		return int(q), true
	case string:
		return 0, python.Truth(queue) && q != "False" && q != "false"
	}
	return 0, false
}

// earlier are the jids of runs of states that began before this one.
func earlier(c *loader.Call) (out []string) {
	if c.Host().Jobs == nil {
		return nil
	}
	for _, job := range c.Host().Jobs.Running() {
		jid := python.Str(job.Value("jid"))
		if jid != c.JID && isRun(job) && (c.JID == "" || jid < c.JID) {
			out = append(out, jid)
		}
	}
	return out
}

const waitAgain = 200 * time.Millisecond

// untilOver waits until no earlier run is there.
func untilOver(c *loader.Call) error {
	for len(earlier(c)) > 0 {
		select {
		case <-time.After(waitAgain):
		case <-c.Ctx.Done():
			return c.Ctx.Err()
		}
	}
	return nil
}

// ofID are the steps of an ID, with those that they wait for, in their order.
func ofID(all []*low.Step, id any) (out []*low.Step) {
	byTag := map[string][]*low.Step{}
	for _, s := range all {
		byTag[low.Tag(s.Chunk)] = append(byTag[low.Tag(s.Chunk)], s)
	}
	taken := map[*low.Step]bool{}
	var take func(s *low.Step)
	take = func(s *low.Step) {
		if taken[s] {
			return
		}
		taken[s] = true
		for _, need := range s.Needs {
			for _, other := range byTag[low.Tag(need.Chunk)] {
				take(other)
			}
		}
	}
	for _, s := range all {
		if payload.Equal(s.Chunk.Value("__id__"), id) {
			take(s)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s *low.Step) bool { return !taken[s] })
}
