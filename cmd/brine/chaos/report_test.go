package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// report counts the actions and results of a run.
type report struct {
	mu       sync.Mutex
	faults   map[string]int // carried out
	missed   map[string]int // faults without a target
	kills    int            // of actors
	jobs     map[string]int
	outcomes map[string]int // of each minion of each job, by kind of minion and class
	repeats  int            // returns repeated on the bus
	joins    int            // connections of this test to the bus
	revived  int            // Salt minions that did not come back on their own
	back     map[string][]time.Duration
	levels   map[string]string
	rounds   int
	took     time.Duration
}

func newReport() *report {
	return &report{faults: map[string]int{}, missed: map[string]int{}, jobs: map[string]int{},
		outcomes: map[string]int{}, back: map[string][]time.Duration{}, levels: map[string]string{}}
}

func (r *report) fault(ft *fault, d done) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.what == "" {
		r.missed[ft.name]++
		return
	}
	r.faults[ft.name]++
	if ft.kills {
		r.kills++
	}
}

func (r *report) job(j *job) {
	switch {
	case j.acked:
		r.jobs["acknowledged"]++
	case j.jid == "":
		r.jobs["without an answer, number not known"]++
	default:
		r.jobs["without an answer"]++
	}
}

func (r *report) outcome(kind, class string) { r.outcomes[kind+": "+class]++ }

func (r *report) held(id string, was, now level) {
	r.levels[id] = fmt.Sprintf("goroutines %d, then %d; files %d, then %d", was.goroutines, now.goroutines, was.files,
		now.files)
}

// returned notes how long the minions were away after the last fault of a round.
func (r *report) returned(last string, took map[string]time.Duration) {
	for _, d := range took {
		r.back[last] = append(r.back[last], d)
	}
}

func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rounds in %v, %d actors killed\n", r.rounds, r.took.Round(time.Second), r.kills)
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	table(w, "faults", r.faults)
	table(w, "faults that hit nothing", r.missed)
	table(w, "jobs", r.jobs)
	table(w, "outcomes, one for each minion of a job", r.outcomes)
	fmt.Fprintf(w,
		"returns told again on the bus\t%d\nthis test joined the bus\t%d\nminions of Salt started anew\t%d\n",
		r.repeats, r.joins, r.revived)
	fmt.Fprintln(w, "at the end of the last round")
	for _, id := range slices.Sorted(maps.Keys(r.levels)) {
		fmt.Fprintf(w, "  %s\t%s\n", id, r.levels[id])
	}
	r.times(w)
	_ = w.Flush() // the writes go to memory
	return b.String()
}

func table(w *tabwriter.Writer, title string, counts map[string]int) {
	fmt.Fprintln(w, title)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "  %s\t%d\n", k, counts[k])
	}
}

// times shows how long minions were away, by the last fault of the round.
func (r *report) times(w *tabwriter.Writer) {
	fmt.Fprintln(w, "first answer of a minion after the last fault of a round\tcount\tp50\tp99\tmax\tover 1 s")
	var all []time.Duration
	for _, last := range slices.Sorted(maps.Keys(r.back)) {
		all = append(all, r.back[last]...)
		spread(w, last, r.back[last])
	}
	spread(w, "all", all)
}

func spread(w *tabwriter.Writer, name string, list []time.Duration) {
	if len(list) == 0 {
		return
	}
	slices.Sort(list)
	over := 0
	for _, d := range list {
		if d > time.Second {
			over++
		}
	}
	at := func(q float64) time.Duration { return list[int(q*float64(len(list)-1))].Round(time.Millisecond) }
	fmt.Fprintf(w, "  %s\t%d\t%v\t%v\t%v\t%d\n", name, len(list), at(0.5), at(0.99), at(1), over)
}
