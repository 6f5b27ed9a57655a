package pillars

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules/pillar"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the Pillar.
type (
	// CompilePillar asks for the pillar that answers a question.
	CompilePillar struct {
		Ask   pillar.Question
		Line  string              // of whom: questions of one line are compiled one after the other
		Key   pillarKey           // the same for the same question of the same line, and for no other one
		Reply chan<- pillarAnswer // has room for the answer
	}
	// PillarCompiled tells what came of a compilation, which was begun for the so-manieth time.
	PillarCompiled struct {
		Key    pillarKey
		Begun  int
		Answer pillarAnswer
		Soon   bool // it was not late
	}
	// PillarLate says that a compilation takes long.
	PillarLate struct {
		Key   pillarKey
		Begun int
	}
)

// pillarKey is the hash of a question.
type pillarKey [32]byte

// pillarAnswer is a pillar, which several may read, or why there is none.
type pillarAnswer struct {
	pillar *payload.Map
	err    error
}

// Bounds of what is compiled.
const (
	// after which a compilation is late: it waits for something, and takes no place from others
	pillarLate   = 100 * time.Millisecond
	pillarsLate  = 64   // such at a time
	pillarsOfOne = 16   // questions of one line that wait; the retries of a real minion are three
	pillarLives  = 3    // as often is a compilation begun
	pillarsSlow  = 4096 // lines that are remembered for having been late
)

var (
	errManyPillars = errors.New("the minion asks for too many pillars at once")
	errPillarDied  = errors.New("the Pillar died of other causes each time it was compiled")
)

// pillarOptions are what the Pillar needs of the master.
type pillarOptions struct {
	compile func(ctx context.Context, q pillar.Question) (*payload.Map, error)
	most    int           // compilations at a time
	within  time.Duration // each may take so long
}

// pillarWork is what is asked of the Pillar. It outlives it: a successor begins the compilations anew. Only the
// incarnation that lives touches it.
type pillarWork struct {
	open    map[pillarKey]*compilation
	queue   []*compilation            // not begun, in order,
	slow    []*compilation            // and those of lines whose last one was late
	wasLate map[string]bool           // lines of which this is so
	of      map[string][]*compilation // open ones by line: the first is in the queue or begun, the others wait for it
	running int                       // begun, the late ones not counted
	late    int
}

func newPillarWork() *pillarWork {
	return &pillarWork{open: map[pillarKey]*compilation{}, of: map[string][]*compilation{}, wasLate: map[string]bool{}}
}

// compilation is one question, and who waits for its answer.
type compilation struct {
	key     pillarKey
	line    string
	ask     pillar.Question
	waiting []chan<- pillarAnswer
	begun   int  // so often
	runs    bool // in this incarnation of the Pillar
	late    bool // it does not count as running any more
}

// pillarMaker compiles pillars, some at a time, those of one line one after the other, the same question once.
type pillarMaker struct {
	opt  pillarOptions
	work *pillarWork
}

func (p *pillarMaker) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		p.onStarted(ctx)
	case *CompilePillar:
		p.onCompilePillar(ctx, m)
	case *PillarCompiled:
		p.onPillarCompiled(ctx, m)
	case *PillarLate:
		p.onPillarLate(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

// onStarted takes up what the predecessor left.
func (p *pillarMaker) onStarted(ctx supervisor.Context) {
	w := p.work
	w.running, w.late, w.queue, w.slow = 0, 0, nil, nil
	var worn []*compilation
	for _, all := range w.of {
		c := all[0]
		c.runs, c.late = false, false
		if c.begun >= pillarLives {
			worn = append(worn, c)
			continue
		}
		w.enqueue(c)
	}
	for _, c := range worn {
		p.settle(c, pillarAnswer{err: errPillarDied})
	}
	p.begin(ctx)
}

func (p *pillarMaker) onCompilePillar(ctx supervisor.Context, m *CompilePillar) {
	w := p.work
	if c := w.open[m.Key]; c != nil {
		c.waiting = append(c.waiting, m.Reply)
		return
	}
	others := w.of[m.Line]
	if len(others) >= pillarsOfOne {
		supervisor.Failed(ctx)
		m.Reply <- pillarAnswer{err: errManyPillars}
		return
	}
	c := &compilation{key: m.Key, line: m.Line, ask: m.Ask, waiting: []chan<- pillarAnswer{m.Reply}}
	w.open[m.Key], w.of[m.Line] = c, append(others, c)
	if len(others) == 0 {
		w.enqueue(c)
	}
	p.begin(ctx)
}

// enqueue puts a compilation into its line.
func (w *pillarWork) enqueue(c *compilation) {
	if w.wasLate[c.line] {
		w.slow = append(w.slow, c)
		return
	}
	w.queue = append(w.queue, c)
}

// remember notes that the last compilation of a line was late. Whoever may name lines could name any number: beyond
// pillarsSlow one that is known is forgotten, and its next compilation holds a place for as long as it takes to be
// found late.
func (w *pillarWork) remember(line string) {
	if !w.wasLate[line] && len(w.wasLate) >= pillarsSlow {
		for known := range w.wasLate {
			delete(w.wasLate, known)
			break
		}
	}
	w.wasLate[line] = true
}

// begin begins what there is a place for.
func (p *pillarMaker) begin(ctx supervisor.Context) {
	w := p.work
	for w.running < p.opt.most && len(w.queue) > 0 {
		w.running++
		p.compile(ctx, w.queue[0])
		w.queue = w.queue[1:]
	}
	for w.late < pillarsLate && len(w.slow) > 0 {
		w.late++
		w.slow[0].late = true
		p.compile(ctx, w.slow[0])
		w.slow = w.slow[1:]
	}
}

// compile compiles beside the actor.
func (p *pillarMaker) compile(ctx supervisor.Context, c *compilation) {
	c.begun++
	c.runs = true
	self, opt, key, begun, ask := supervisor.Self(ctx), p.opt, c.key, c.begun, c.ask
	supervisor.Go(ctx, "compile", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, opt.within, fmt.Errorf("it took longer than %s", opt.within))
		defer cancel()
		late := time.AfterFunc(pillarLate, func() { self.Send(&PillarLate{key, begun}) })
		var a pillarAnswer
		a.pillar, a.err = caught(ctx, ask, opt.compile)
		self.Send(&PillarCompiled{key, begun, a, late.Stop()})
		return nil
	})
}

// caught makes a panic of a compilation its error: the question is bad, the others are well.
func caught(ctx context.Context, q pillar.Question, compile func(context.Context, pillar.Question) (*payload.Map,
	error)) (out *payload.Map, err error) {
	defer func() {
		if why := recover(); why != nil {
			out, err = nil, fmt.Errorf("compile the pillar of %s: %v", q.ID, why)
		}
	}()
	return compile(ctx, q)
}

func (p *pillarMaker) onPillarCompiled(ctx supervisor.Context, m *PillarCompiled) {
	c := p.work.open[m.Key]
	if c == nil || !c.runs || c.begun != m.Begun { // the predecessor's, which was cut off
		return
	}
	if c.late {
		p.work.late--
	} else {
		p.work.running--
	}
	if m.Answer.err != nil {
		supervisor.Failed(ctx)
	}
	if m.Soon {
		delete(p.work.wasLate, c.line)
	} else {
		p.work.remember(c.line)
	}
	p.settle(c, m.Answer)
	p.begin(ctx)
}

// settle answers all who wait and lets the next question of the line into the queue.
func (p *pillarMaker) settle(c *compilation, a pillarAnswer) {
	for _, reply := range c.waiting {
		reply <- a
	}
	w, line := p.work, c.line
	delete(w.open, c.key)
	if w.of[line] = w.of[line][1:]; len(w.of[line]) == 0 {
		delete(w.of, line)
		return
	}
	w.enqueue(w.of[line][0])
}

// onPillarLate gives the place of a compilation that waits, for an external pillar as a rule, to the others.
func (p *pillarMaker) onPillarLate(ctx supervisor.Context, m *PillarLate) {
	c, w := p.work.open[m.Key], p.work
	if c == nil || !c.runs || c.begun != m.Begun || c.late || w.late >= pillarsLate {
		return
	}
	c.late = true
	w.running--
	w.late++
	p.begin(ctx)
}

// pillarOf makes the Pillar; its incarnations share the work.
func pillarOf(opt pillarOptions, work *pillarWork) func() supervisor.Actor {
	return func() supervisor.Actor { return &pillarMaker{opt: opt, work: work} }
}
