package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"brine/modules/host/program"
	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
	"brine/wire/python/shlex"
)

// endPatience is how long a program has to end by itself when it is told to.
const endPatience = 2 * time.Second

// script runs a program again and again; each line of its output with a tag becomes an event (salt/engines/script.py).
//
// Unlike Salt: what the program has started is ended with it, and onchange holds events back on a master, too.
type script struct {
	argv     []string
	read     func(string) (any, error)
	interval time.Duration
	onChange bool
}

// readers are the values of output; Salt takes any of its serializers.
var readers = map[string]func(string) (any, error){
	"json": pyjson.Load, "yaml": saltyaml.Deserialize, "yamlex": saltyaml.DeserializeYamlex, "msgpack": nil,
	"configparser": nil, "toml": nil, "python": nil, "plist": nil,
}

func newScript(f *fields) Engine {
	s := &script{interval: f.seconds("interval", time.Second), onChange: f.yes("onchange")}
	cmd := f.need("cmd")
	argv, err := shlex.Split(cmd)
	if err != nil || len(argv) == 0 && cmd != "" {
		f.fault("cmd", cmd, "command line")
	}
	s.argv = argv
	output := f.text("output", "json")
	known := false
	if s.read, known = readers[output]; s.read == nil && known {
		f.wrong = append(f.wrong, fmt.Errorf("output %s is not read yet: json and yaml are", output))
	} else if !known {
		f.wrong = append(f.wrong, fmt.Errorf("Unknown serializer `%s` found for output option", output))
	}
	return s
}

// Run runs the program every interval, counted from its end.
func (s *script) Run(ctx context.Context, to Surroundings) error {
	last := map[string]*payload.Map{}
	for {
		if err := s.once(ctx, to, last); err != nil {
			return err
		}
		timer := time.NewTimer(s.interval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// once runs the program to its end. An exit code is logged; what ends the engine are lines that are no events, as in
// Salt.
func (s *script) once(ctx context.Context, to Surroundings, last map[string]*payload.Map) error {
	live, err := program.Open(ctx, program.Spec{Argv: s.argv,
		Env: program.Environment{Account: &program.Account{}}.List(), Merge: true})
	if err != nil {
		return fmt.Errorf("start %s: %w", s.argv[0], err)
	}
	defer live.Close(endPatience)
	defer context.AfterFunc(ctx, live.Interrupt)()
	to.Log.Debug("Starting script", "pid", live.PID)
	_ = live.Input.Close() // it reads nothing
	if err := s.lines(ctx, to, newLines(live.Output), last); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	select {
	case <-live.Exited():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if code := live.Close(0); code != 0 {
		to.Log.Error(fmt.Sprintf("Command '%s' returned non-zero exit status %d.", shown(s.argv), code))
	}
	return nil
}

// shown is a command as Python prints a list.
func shown(argv []string) string {
	words := make([]any, len(argv))
	for i, w := range argv {
		words[i] = w
	}
	return python.Repr(words)
}

func (s *script) lines(ctx context.Context, to Surroundings, from *lines, last map[string]*payload.Map) error {
	for {
		line, err := from.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.line(ctx, to, string(line), last)
		}
		if err != nil {
			return err
		}
	}
}

// line fires what a line says.
func (s *script) line(ctx context.Context, to Surroundings, line string, last map[string]*payload.Map) error {
	v, err := s.read(line)
	if err != nil {
		return fmt.Errorf("a line of %s: %w", s.argv[0], err)
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return fmt.Errorf("a line of %s is no map with a tag: %s", s.argv[0], payload.Show(line))
	}
	given, has := m.Get("data")
	data, ok := given.(*payload.Map)
	if !has {
		data, ok = payload.NewMap(0), true
	}
	tag := m.Value("tag")
	if !python.Truth(tag) {
		return nil
	}
	name, isText := tag.(string)
	if !isText {
		return fmt.Errorf("a line of %s has a tag that is no text: %s", s.argv[0], payload.Show(line))
	}
	if !ok {
		return fmt.Errorf("a line of %s has data that are no map: %s", s.argv[0], payload.Show(line))
	}
	if data.Len() > 0 && !data.Has("id") {
		data.Set("id", to.ID)
	}
	if before, known := last[name]; s.onChange && known && payload.Equal(before, data) {
		return nil
	}
	if s.onChange {
		if len(last) >= maxTags {
			clear(last)
		}
		last[name] = data
	}
	to.Log.Info("script engine firing event with tag " + payload.Show(name))
	told(to.Log, name, to.Daemon.Fire(ctx, name, data))
	return nil
}

// maxTags is of how many tags onchange remembers the data. When there are more it begins anew.
const maxTags = 10_000

// told says in the log that an event could not be fired; the engine goes on, as in Salt.
func told(log *slog.Logger, tag string, err error) {
	if err != nil {
		log.Error("the event of an engine could not be fired", "tag", payload.Show(tag), "err", err)
	}
}
