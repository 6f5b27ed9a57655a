package admin

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/modules/outputters"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// maxEventFile is the size of the largest file with an event, in bytes.
const maxEventFile = 64 << 20

// Reactor shows the rules of a Reactor and the fate of recent events, or what one event would trigger.
func Reactor(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		words: " [test EVENT.json]", most: 2, want: "Takes nothing, or test and a file", watch: true,
		description: "Show the rules of the Reactor of a running master, or with -m of a minion, how often they " +
			"were hit, and what failed. With test and a file that holds an " +
			"event, {\"tag\": ..., \"data\": {...}}: which rules match and which calls they come to. Nothing is " +
			"run, no function in a template either.",
	})
	if err != nil {
		return err
	}
	switch words := a.Opt.Args; {
	case len(words) == 0:
		return a.show(a.reactor)
	case len(words) == 2 && words[0] == "test":
		tag, data, err := readEvent(c, words[1])
		if err != nil {
			return tool.Exit(tool.ExitUsage, "brine: %s: %s", words[1], err)
		}
		return a.show(func() (answer, error) { return a.tryReactor(tag, data) })
	}
	return tool.Exit(tool.ExitUsage, "brine: reactor takes nothing, or test and a file")
}

// readEvent reads an event as JSON. The name - means the standard input.
func readEvent(c *tool.Call, name string) (tag string, data *payload.Map, err error) {
	in := c.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxEventFile))
	if err != nil {
		return "", nil, err
	}
	v, err := pyjson.Load(string(text))
	if err != nil {
		return "", nil, err
	}
	m, ok := v.(*payload.Map)
	tag = m.Str("tag")
	if !ok || tag == "" {
		return "", nil, fmt.Errorf("it is no event: {\"tag\": ..., \"data\": {...}}")
	}
	if data = m.Map("data"); data == nil {
		data = payload.NewMap(0)
	}
	return tag, data, nil
}

func (a *adminTool) reactor() (answer, error) {
	got, err := ask(a, control.GetReactor{})
	return answer{value: control.Encode(got), text: func() string { return reactorText(got, time.Now()) }}, err
}

func (a *adminTool) tryReactor(tag string, data *payload.Map) (answer, error) {
	got, err := ask(a, control.TryReactor{Tag: tag, Data: data})
	return answer{value: control.Encode(got), text: func() string { return trialText(got) }}, err
}

// reactorText gives a line for each rule, and the sums.
func reactorText(r control.Reactor, now time.Time) string {
	if !r.Running {
		return "There is no Reactor: the option reactor names no rules, or a minion's engines do not name it.\n"
	}
	var b strings.Builder
	if len(r.Rules) > 0 {
		t := newTable("TAG", "FILES", "HITS", "CALLS", "FAILURES", "LAST ERROR")
		for _, one := range r.Rules {
			last := "-"
			if one.LastError != "" {
				last = agoText(one.LastErrorAt, now) + ": " + one.LastError
			}
			t.add(one.Tag, strings.Join(one.SLS, " "), fmt.Sprint(one.Hits), fmt.Sprint(one.Calls),
				fmt.Sprint(one.Failures), last)
		}
		b.WriteString(t.String() + "\n")
	}
	if r.File != "" {
		fmt.Fprintf(&b, "rules: of %s\n", top.Clean(r.File))
	}
	fmt.Fprintf(&b, "events: %d wanted by a rule, %d reacted to, %d wait (%d bytes), %d dropped; calls: %d made, %d "+
		"in doubt; failures: %d\n", r.Events, r.Reacted, r.Waiting, r.WaitingBytes, r.Dropped, r.Calls, r.Doubtful,
		r.Failures)
	if r.LastError != "" {
		fmt.Fprintf(&b, "last error, %s: %s\n", agoText(r.LastErrorAt, now), top.Clean(r.LastError))
	}
	if !r.Leader {
		b.WriteString("No event is reacted to: another master leads (reactor.set_leader).\n")
	}
	return b.String()
}

// trialText says what an event would trigger.
func trialText(r control.ReactorTrial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "event %s\n", top.Clean(r.Tag))
	switch {
	case r.Own:
		b.WriteString("It comes from what a reaction has called (user: Reactor): it is not reacted to.\n")
	case !r.Leader:
		b.WriteString("No event is reacted to: another master leads (reactor.set_leader).\n")
	}
	if len(r.Rules) == 0 {
		b.WriteString("No rule matches.\n")
	}
	for _, one := range r.Rules {
		fmt.Fprintf(&b, "rule %s: %s\n", top.Clean(one.Tag), top.Clean(strings.Join(one.SLS, " ")))
	}
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "call %s %s of %s (%s)\n", c.Kind, top.Clean(c.Fun), top.Clean(c.ID), top.Clean(c.SLS))
		if c.Tgt != "" {
			fmt.Fprintf(&b, "  target: %s\n", top.Clean(c.Tgt))
		}
		for _, part := range []struct {
			name string
			v    any
			n    int
		}{{"arguments", c.Args, len(c.Args)}, {"by name", c.KW, c.KW.Len()}} {
			if part.n > 0 {
				fmt.Fprintf(&b, "  %s: %s\n", part.name, top.Clean(outputters.JSON(part.v)))
			}
		}
	}
	for _, line := range r.Log {
		fmt.Fprintf(&b, "log: %s\n", top.Clean(line))
	}
	return b.String()
}
