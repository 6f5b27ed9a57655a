package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"brine/modules/host/program"
	"brine/modules/text/printable"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// Kinds of messages on both sides of the door.
const (
	kindStart  = "start"
	kindEvent  = "event"
	kindLost   = "lost"
	kindResult = "result"
	kindLog    = "log"
	kindCall   = "call"
)

// protocol is the version of the messages.
const protocol = 1

// Bounds of calls that a program makes.
const (
	callsMost   = 64      // without having read their results
	callsAtOnce = 8       // that run
	resultMost  = 4 << 20 // bytes of one result
)

var errManyCalls = fmt.Errorf("more than %d calls whose results it has not read", callsMost)

// talk is a program that runs behind the door.
type talk struct {
	door  *Door
	live  *program.Live
	s     Surroundings
	queue *queue
	say   sync.Mutex // holds the writing end
	calls sync.WaitGroup
	open  atomic.Int64  // calls whose results are not written yet
	turn  chan struct{} // of calls that run
	log   *chatter
}

func newTalk(d *Door, live *program.Live, s Surroundings) *talk {
	return &talk{door: d, live: live, s: s, queue: newQueue(d.events), turn: make(chan struct{}, callsAtOnce),
		log: &chatter{log: s.Log}}
}

// watch ends all reading and writing when the daemon wants the engine to end, and a while after the program has.
func (t *talk) watch(ctx context.Context) {
	select {
	case <-t.live.Exited():
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	t.live.Interrupt()
}

// tell writes what the program is told: first what it is, then events. When it cannot, the program is about to end, or
// has closed its input, which it may.
func (t *talk) tell(ctx context.Context) {
	first := payload.M("kind", kindStart, "protocol", int64(protocol), "engine", t.door.name, "role", t.s.Role, "id",
		t.s.ID, "options", t.door.rest)
	if t.write(first) != nil || len(t.door.events) == 0 {
		return
	}
	for {
		tag, data, lost, err := t.queue.next(ctx)
		if err == nil && lost > 0 {
			t.s.Log.Warn("a program did not read its events in time: the oldest were dropped", "count", lost)
			err = t.write(payload.M("kind", kindLost, "count", int64(lost)))
		}
		if err == nil {
			err = t.write(payload.M("kind", kindEvent, "tag", tag, "data", data))
		}
		if err != nil {
			return
		}
	}
}

func (t *talk) write(m *payload.Map) error {
	line, err := jsonLine(m)
	if err != nil {
		return nil // an event of others that JSON has no form for
	}
	t.say.Lock()
	defer t.say.Unlock()
	_, err = t.live.Input.Write(line)
	return err
}

// listen reads what the program says, to the end of its output.
func (t *talk) listen(ctx context.Context) error {
	from := newLines(t.live.Output)
	for {
		line, err := from.next()
		if err == nil {
			err = t.heed(ctx, string(line))
		}
		if err != nil {
			return err
		}
	}
}

// listenToErrors puts its standard error into the log.
func (t *talk) listenToErrors(context.Context) {
	from := newLines(t.live.Errors)
	for {
		line, err := from.next()
		switch {
		case errors.Is(err, errLongLine):
			t.log.line(slog.LevelWarn, err.Error())
		case err != nil:
			return
		default:
			t.log.line(slog.LevelWarn, string(line))
		}
	}
}

// heed does what a line says. One that is no JSON object is for the log: so may the output of any program.
func (t *talk) heed(ctx context.Context, line string) error {
	v, err := pyjson.Load(line)
	m, ok := v.(*payload.Map)
	if err != nil || !ok {
		if line != "" {
			t.log.line(slog.LevelInfo, line)
		}
		return nil
	}
	kind := m.Str("kind")
	if kind == "" && m.Has("tag") { // as the engine script has it
		kind = kindEvent
	}
	switch kind {
	case kindEvent:
		t.fire(ctx, m)
	case kindLog:
		t.log.line(levelOf(m.Str("level")), m.Str("text"))
	case kindCall:
		return t.call(ctx, m)
	default:
		t.log.line(slog.LevelError, "a message of unknown kind: "+line)
	}
	return nil
}

func (t *talk) fire(ctx context.Context, m *payload.Map) {
	tag, ok := m.Value("tag").(string)
	data, isMap := m.Value("data").(*payload.Map)
	if !m.Has("data") {
		data, isMap = payload.NewMap(0), true
	}
	if !ok || tag == "" || !isMap {
		t.log.line(slog.LevelError, "an event needs a tag and, if any, data that are an object")
		return
	}
	if err := t.s.Daemon.Fire(ctx, tag, data); err != nil {
		t.log.line(slog.LevelError, fmt.Sprintf("event %s could not be fired: %v", payload.Show(tag), err))
	}
}

// call runs a function beside the conversation.
func (t *talk) call(ctx context.Context, m *payload.Map) error {
	if t.open.Add(1) > callsMost {
		return errManyCalls
	}
	t.calls.Go(func() {
		defer t.open.Add(-1)
		select {
		case t.turn <- struct{}{}:
		case <-ctx.Done():
			return
		}
		answer := payload.M("kind", kindResult, "id", m.Value("id"))
		v, err := t.run(ctx, m)
		<-t.turn
		if err != nil {
			answer.Set("error", err.Error())
		} else {
			answer.Set("return", v)
		}
		if line, err := jsonLine(answer); err != nil || len(line) > resultMost {
			answer = payload.M("kind", kindResult, "id", m.Value("id"), "error",
				fmt.Sprintf("the result has no form in JSON, or more than %d bytes", resultMost))
		}
		_ = t.write(answer) // it does not read any more
	})
	return nil
}

func (t *talk) run(ctx context.Context, m *payload.Map) (v any, err error) {
	defer func() {
		if p := recover(); p != nil { // a function must not take the engine down
			err = fmt.Errorf("%s: %v", m.Str("fun"), p)
		}
	}()
	args, _ := m.Value("args").([]any)
	kw := m.Map("kwargs")
	if m.Str("fun") == "" || m.Value("args") != nil && args == nil || m.Value("kwargs") != nil && kw == nil {
		return nil, errors.New("a call needs fun, and, if any, args that are an array and kwargs that are an object")
	}
	client := m.Str("client")
	if client == "" {
		client = "execution"
	}
	return t.s.Daemon.Call(ctx, client, m.Str("fun"), args, kw)
}

func levelOf(name string) slog.Level {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "warning": slog.LevelWarn, "error": slog.LevelError}
	return levels[name] // info is 0
}

// maxSaid is how much of a line goes to the log, in bytes.
const maxSaid = 4096

// chatterMost is how many lines a program may write to the log in a second.
const chatterMost = 200

// chatter is the log of a program: what is too much is left out, and counted.
type chatter struct {
	log *slog.Logger

	mu      sync.Mutex
	second  int64
	said    int
	omitted int
}

func (c *chatter) line(level slog.Level, text string) {
	c.mu.Lock()
	if now := time.Now().Unix(); now != c.second {
		if c.omitted > 0 {
			c.log.Warn("lines of a program were left out of the log: it writes too many", "count", c.omitted)
		}
		c.second, c.said, c.omitted = now, 0, 0
	}
	c.said++
	tooMuch := c.said > chatterMost
	if tooMuch {
		c.omitted++
	}
	c.mu.Unlock()
	if !tooMuch {
		c.log.Log(context.Background(), level, printable.Line(text[:min(len(text), maxSaid)]))
	}
}
