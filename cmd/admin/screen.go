package admin

import (
	"context"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/cmd/display"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/terminal"
	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/modules/text/printable"
	"brine/supervisor/stats"
	"brine/wire/payload"

	"golang.org/x/term"
)

// These are control sequences for a terminal with -w.
const (
	termHome      = "\x1b[H"
	termWipe      = "\x1b[2J"
	termWipeLine  = "\x1b[K"
	termWipeBelow = "\x1b[J"
)

// screenSize is the size of the terminal at stdout. ok is false if there is no terminal.
func screenSize(s *session.Session) (width, height int, ok bool) {
	f, isFile := terminal.Beneath(s.Stdout).(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil && width > 0 && height > 0
}

// width is the number of cells in a line of the terminal at stdout, or 0 without a terminal.
func (a *adminTool) width() int {
	width, _, _ := screenSize(a.Session)
	return width
}

// repaint draws an answer over the last one, cut to the screen and without flicker.
func (a *adminTool) repaint(got answer, first bool) error {
	width, height, ok := screenSize(a.Session)
	text := got.text()
	if !ok {
		if !first {
			text = "\n" + text
		}
		return display.Emit(a.Session, text)
	}
	text = printable.Text(text)
	if got.prose {
		text = wrapped(text, width)
	}
	return display.Paint(a.Session, frame(text, width, height, first))
}

// wrapped breaks lines that are too long, at blanks if possible.
func wrapped(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := []rune(strings.TrimSuffix(line, "\n"))
		for len(rest) > width {
			at := width
			for at > width/2 && rest[at] != ' ' {
				at--
			}
			if at == width/2 {
				at = width
			}
			b.WriteString(string(rest[:at]) + "\n")
			rest = []rune("  " + strings.TrimLeft(string(rest[at:]), " "))
			if width < 4 {
				break
			}
		}
		b.WriteString(string(rest) + "\n")
	}
	return b.String()
}

// frame turns a text into a picture that replaces the last one on a screen.
func frame(text string, width, height int, first bool) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	more := ""
	if len(lines) > height-1 {
		more = "... " + strconv.Itoa(len(lines)-height+2) + " more lines"
		lines = append(lines[:max(height-2, 0)], more)
	}
	var b strings.Builder
	if first {
		b.WriteString(termWipe)
	}
	b.WriteString(termHome)
	for _, line := range lines {
		if utf8.RuneCountInString(line) > width {
			line = string([]rune(line)[:width])
		}
		b.WriteString(line + termWipeLine + "\r\n")
	}
	b.WriteString(termWipeBelow)
	return b.String()
}

// Top shows the actors of a daemon, or of minions, on a screen that is updated continuously.
func Top(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		description: "Follow the actors of a running daemon, or of minions, on a full screen. Press ? for its keys.",
		most:        0, want: "Takes no words; --minions TARGET asks minions, -m the minion of this machine",
		remote: "ask_minions",
		options: []optparse.Option{
			intervalOption("1, with --minions 5"),
			{Flags: []string{"--minions"}, Dest: "ask_minions", Metavar: "TARGET",
				Help: "Ask the brine minions that a compound target means, through their master."},
			{Flags: []string{"--once"}, Kind: optparse.Flag, Dest: "look_once",
				Help: "Print what the screen would show as plain text, and end."},
		},
	})
	if err != nil {
		return err
	}
	source, title, err := a.watched()
	if err != nil {
		return err
	}
	_, _, screen := screenSize(a.Session)
	if a.Opt.Bool("look_once") || a.Opt.Bool("as_json") || !screen || os.Getenv("TERM") == "dumb" {
		return a.lookOnce(source, title)
	}
	if f, ok := source.(*fleetTool); ok {
		f.job.Timeout = screenWithin
	}
	if !a.Opt.Given("look_interval") {
		a.Opt.Default("look_interval", map[bool]string{true: "5", false: "1"}[a.Opt.Str("ask_minions") != ""])
	}
	return top.Run(context.Background(), top.Options{Title: title, Source: source, Every: a.interval(),
		Plain: os.Getenv("NO_COLOR") != "",
		Out:   terminal.Beneath(a.Stdout)})
}

// watched returns the source from which the screen gets its looks.
func (a *adminTool) watched() (top.Source, string, error) {
	if target := a.Opt.Str("ask_minions"); target != "" {
		f, err := a.fleet(target)
		return f, "minions " + target, err
	}
	if a.Opt.Bool("of_local_minion") {
		return daemonSource{a}, "minion " + a.Common.ID, nil
	}
	return daemonSource{a}, "master " + a.Common.ID, nil
}

// lookOnce prints one look as text, with the rates that the daemon keeps.
func (a *adminTool) lookOnce(source top.Source, title string) error {
	once()
	look, err := source.Look(context.Background())
	if err != nil {
		return err
	}
	if !a.Opt.Bool("as_json") {
		return display.Emit(a.Session, top.Once(title, look, a.width()))
	}
	return a.asJSON(payload.M("daemons", stats.List(look.Roots), "silent", payload.AnyList(look.Silent)))
}
