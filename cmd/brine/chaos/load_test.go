package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"brine/wire/client"
	"brine/wire/payload"
)

// job is one attempt to publish a job.
type job struct {
	token   string // text of the lines that it writes; "" for no line
	jid     string // "": the master has chosen it and the answer was lost
	fun     string
	wanted  []string // target minions
	acked   bool     // the master has accepted the job
	refused string   // the master's refusal, or the reason of a missing answer
}

// kinds are the jobs of the load, with their weights: work that writes a line, short and long answers, and
// requests for every lane of the master.
var kinds = []struct {
	weight int
	fun    string
	args   func(token string, r *rand.Rand) []any
}{
	{40, "cmd.run", func(token string, r *rand.Rand) []any {
		return []any{fmt.Sprintf(`echo "%s $CHAOS_ID" >> "$CHAOS_FILE"; sleep %.2f`, token,
			[]float64{0, 0, 0.05, 0.3}[r.IntN(4)])}
	}},
	{20, "test.ping", nil},
	{10, "test.sleep", func(_ string, r *rand.Rand) []any { return []any{float64(r.IntN(4)) / 10} }},
	{10, "test.echo", func(_ string, r *rand.Rand) []any { return []any{fmt.Sprintf("%0*d", 1+r.IntN(60000), 7)} }},
	{5, "grains.item", func(string, *rand.Rand) []any { return []any{"id", "os"} }},
	{5, "mine.send", func(string, *rand.Rand) []any { return []any{"test.ping"} }},
	{5, "mine.get", func(string, *rand.Rand) []any { return []any{"*", "test.ping"} }},
	{5, "saltutil.refresh_pillar", nil},
}

// load publishes jobs. Each worker publishes the next job when all minions have returned, or after a second.
type load struct {
	fleet *fleet
	stop  chan struct{}
	wg    sync.WaitGroup

	mu   sync.Mutex
	jobs []*job
}

// begin starts the load of a round.
func (f *fleet) begin(ctx context.Context, round, workers int, pause time.Duration) *load {
	l := &load{fleet: f, stop: make(chan struct{})}
	for w := range workers {
		r := rand.New(rand.NewPCG(*flagSeed, uint64(round*1000+w+1)))
		l.wg.Go(func() { l.work(ctx, r, pause) })
	}
	return l
}

// halt stops the publication of further jobs.
func (l *load) halt() { close(l.stop) }

// end waits for unfinished publications, after halt, and returns all jobs.
func (l *load) end() []*job {
	l.wg.Wait()
	return l.jobs
}

func (l *load) work(ctx context.Context, r *rand.Rand, pause time.Duration) {
	c := l.fleet.client()
	defer c.Close()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		j, args := l.next(r)
		l.publish(ctx, c, j, args)
		l.mu.Lock()
		l.jobs = append(l.jobs, j)
		l.mu.Unlock()
		if j.acked {
			wait, cancel := context.WithTimeout(ctx, time.Second)
			l.fleet.bus.await(wait, j.jid, len(j.wanted))
			cancel()
		}
	}
}

// next draws a job. For half of the jobs it chooses the jid itself, like a program that must know the jid even
// if the answer is lost. The master chooses the others, as with salt.
func (l *load) next(r *rand.Rand) (*job, []any) {
	pick, k := r.IntN(100), 0 // the weights add up to 100
	for ; pick >= kinds[k].weight; k++ {
		pick -= kinds[k].weight
	}
	j := &job{fun: kinds[k].fun, jid: l.fleet.jid(), wanted: l.fleet.some(r)}
	if j.fun == "cmd.run" {
		j.token = j.jid
	}
	var args []any
	if kinds[k].args != nil {
		args = kinds[k].args(j.jid, r)
	}
	if r.IntN(2) == 0 {
		j.jid = ""
	}
	return j, args
}

// some draws the minions of a job: all brine minions, or about two thirds of them. Only one job of twelve goes
// to Salt minions, because each of them needs half a second of processor time for it.
func (f *fleet) some(r *rand.Rand) []string {
	guests, part := r.IntN(12) == 0, r.IntN(2) == 0
	some := slices.DeleteFunc(f.ids(), func(id string) bool {
		if f.guest(id) {
			return !guests
		}
		return part && r.IntN(3) == 0
	})
	if len(some) == 0 {
		return []string{f.minions[0].id}
	}
	return some
}

func (l *load) publish(ctx context.Context, c *client.Client, j *job, args []any) {
	tgt := make([]any, len(j.wanted))
	for i, id := range j.wanted {
		tgt[i] = id
	}
	pub, err := c.Publish(ctx, client.Job{Tgt: tgt, TgtType: "list", Fun: j.fun, Arg: args, JID: j.jid})
	switch {
	case err != nil:
		j.refused = err.Error()
	case pub.JID == "":
		j.refused = pub.Note
	default:
		j.jid, j.acked = pub.JID, true
	}
}

// jid makes a unique job id from the clock, as the master does.
func (f *fleet) jid() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if step := f.clock.Add(time.Microsecond); now.Before(step) {
		now = step
	}
	f.clock = now
	return payload.NewJID(now)
}

// back pings until every brine minion has answered. It returns the time that each took since the last fault.
func (f *fleet) back(ctx context.Context) (map[string]time.Duration, error) {
	since, took := f.harmed(), map[string]time.Duration{}
	var ids []string
	for _, m := range f.minions {
		ids = append(ids, m.id)
	}
	err := f.ping(ctx, ids, patience, 50*time.Millisecond, func(id string, at time.Time) { took[id] = at.Sub(since) })
	return took, err
}

// pinging is the number of pings that may wait for the master's answer at once. If a ping is lost with a master
// or an actor, it must not delay the next.
const pinging = 16

// The pause between pings grows by a half each time, up to pingPause for the first pings, and then up to
// pingPauseMax. A busy minion must not get too many pings.
const (
	pingPause    = 150 * time.Millisecond
	pingPauseMax = time.Second
)

// ping sends test.ping, one after each pause, until each of the given minions has answered once. It reports the
// time of each answer.
func (f *fleet) ping(ctx context.Context, ids []string, limit, pause time.Duration, answered func(id string,
	at time.Time)) error {
	c := f.client()
	defer c.Close()
	var jids []string
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel() // runs before the wait for unfinished pings
	silent, places := slices.Clone(ids), make(chan struct{}, pinging)
	for {
		jid := f.jid()
		j := &job{fun: "test.ping", jid: jid, wanted: slices.Clone(silent)}
		jids = append(jids, jid)
		select {
		case places <- struct{}{}:
			wg.Go(func() {
				defer func() { <-places }()
				(&load{fleet: f}).publish(ctx, c, j, nil)
			})
		default:
		}
		wait, done := context.WithTimeout(ctx, pause)
		f.bus.await(wait, jid, len(silent))
		done()
		most := pingPause
		if len(jids) > pinging {
			most = pingPauseMax
		}
		pause = max(pause, min(3*pause/2, most))
		silent = slices.DeleteFunc(silent, func(id string) bool {
			at, did := f.bus.first(jids, id)
			if did {
				answered(id, at)
			}
			return did
		})
		if len(silent) == 0 {
			f.bus.forget(jids)
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no answer of %v", silent)
		}
	}
}

// harm notes the end of a fault, or of undoing one. harmed returns the last such time.
func (f *fleet) harm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = time.Now()
}

func (f *fleet) harmed() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}
