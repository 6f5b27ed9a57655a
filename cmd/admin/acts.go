package admin

import (
	"strings"

	"brine/cmd/display"
	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/wire/control"
)

// textOneActor is the usage error of commands that work on one actor.
const textOneActor = "Requires one actor, see brine tree"

// Restart ends an actor and starts it again.
func Restart(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{words: " ACTOR", description: "End an actor of a running daemon and start it " +
		"again.", least: 1, most: 1, want: textOneActor})
	if err != nil {
		return err
	}
	return act(a, control.RestartActor{Name: a.Opt.Args[0]}, "is ended and started again")
}

// Crash harms an actor on purpose. The configuration must say chaos: True.
func Crash(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{words: " ACTOR", description: "Harm an actor of a running daemon on purpose " +
		"(chaos: True).", least: 1, most: 1, want: textOneActor,
		options: []optparse.Option{{Flags: []string{"--how"}, Dest: "crash_how", Metavar: "HOW", Kind: optparse.Choice,
			Choices: []string{"panic", "exit", "hang"}, Default: "panic",
			Help: "panic, exit or hang. Default: %default."}}})
	if err != nil {
		return err
	}
	how := a.Opt.Str("crash_how")
	return act(a, control.CrashActor{Name: a.Opt.Args[0], How: how}, map[string]string{
		"panic": "is made to panic", "exit": "is made to end", "hang": "is made to hang"}[how])
}

// Stack shows what the goroutines of an actor are doing.
func Stack(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{words: " [ACTOR]", most: 1, want: "Takes one actor at most", watch: true,
		description: "Show what the goroutines of an actor do right now, or all goroutines of a running daemon. It " +
			"stands still for that moment."})
	if err != nil {
		return err
	}
	return a.show(func() (answer, error) {
		got, err := ask(a, control.GetStack{Name: strings.Join(a.Opt.Args, "")})
		if err != nil {
			return answer{}, err
		}
		text := strings.TrimRight(got.Stack, "\n") + "\n"
		if text == "\n" {
			text = got.Path + " has nothing to do: no goroutine works for it.\n"
		}
		return answer{value: got.Raw, text: func() string { return text }}, nil
	})
}

// act does something to an actor and prints what was done.
func act[Q control.Question[control.Acted]](a *adminTool, q Q, done string) error {
	got, err := ask(a, q)
	if err != nil {
		return err
	}
	if a.Opt.Bool("as_json") {
		return a.asJSON(control.Encode(got))
	}
	return display.Emit(a.Session, got.Path+" "+done+".\n")
}
