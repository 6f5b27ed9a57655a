package top

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"brine/supervisor/stats"

	tea "charm.land/bubbletea/v2"
)

var noon = time.Date(2024, 5, 17, 12, 0, 0, 0, time.UTC)

// screen is a model with a source of prepared looks.
type screen struct {
	t     *testing.T
	m     *model
	looks []*Look
	err   error
	stack string
}

func (s *screen) Look(context.Context) (*Look, error) {
	if s.err != nil {
		return nil, s.err
	}
	look := s.looks[0]
	if len(s.looks) > 1 {
		s.looks = s.looks[1:]
	}
	return look, nil
}

func (s *screen) Stack(_ context.Context, path string) (string, error) {
	return "goroutine of " + path + "\n\t" + s.stack, nil
}

// actorAt is an actor that has run since an hour before noon.
func actorAt(name string, received uint64, busyMS int64) stats.Child {
	return stats.Child{Name: name, Path: "master/" + name, PID: name + "#1", State: stats.StateRunning,
		Since: noon.Add(-time.Hour), Incarnation: 1, Received: received, BusyMS: busyMS,
		Handling: stats.Spread{Count: 3, P50US: 1, P99US: 2100, MaxUS: 2100, Buckets: []uint64{0, 2, 0, 1}}}
}

// master is a look at a daemon with two plain actors and a subtree with a worker that has died.
func master(after time.Duration, received uint64) *Look {
	worker := actorAt("MWorker-fast-0", received, 380*int64(after/time.Second))
	worker.Path = "master/ReqServer/MWorker-fast-0"
	worker.Restarts, worker.InHand, worker.InHandMS, worker.Mailbox, worker.OldestMS = 1, "*master.Work", 2500, 3, 1500
	death := stats.Death{Time: noon.Add(-10 * time.Second), Reason: "disk\x1b[2J full", Message: "*master.Work",
		Stack: "main.f()\n\tmain.go:7", Incarnation: 1, Status: 1}
	worker.LastDeath, worker.Deaths = &death, []stats.Death{death}
	worker.LastSlow = &stats.Slow{Time: noon, Message: "*master.Work", Running: 5 * time.Second,
		Stack: "main.slow()\n\tmain.go:9", Abandoned: true}
	worker.Quarantined, worker.Quarantine = 1, []stats.Quarantined{{Time: noon, Message: "*master.Work",
		Hash: "0123456789abcdef", Size: 42, Reason: "boom"}}
	worker.Lost, worker.DeadLetters = 3, map[string]uint64{"full": 2, "crashed": 1}
	server := actorAt("ReqServer", 10, 0)
	server.Children = []stats.Child{worker}
	root := stats.Child{Name: "master", Path: "master", State: stats.StateRunning, Since: noon.Add(-time.Hour),
		Children: []stats.Child{actorAt("EventPublisher", received/2, 0), server, actorAt("Admin", 1, 0)}}
	return &Look{At: noon.Add(after), Facts: []string{"up 1h00m", "pid 7"}, Roots: []stats.Child{root}}
}

func newScreen(t *testing.T, width, height int, looks ...*Look) *screen {
	s := &screen{t: t, looks: looks}
	s.m = newModel(context.Background(), Options{Title: "master", Source: s, Every: time.Second})
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	for range looks {
		s.run(s.m.ask())
	}
	return s
}

// send gives the model a message and runs the resulting commands, except waits.
func (s *screen) send(msg tea.Msg) tea.Cmd {
	_, cmd := s.m.Update(msg)
	return cmd
}

func (s *screen) run(cmd tea.Cmd) { s.send(cmd()) }

// press types keys, one word each: "enter", "esc", "down", or characters.
func (s *screen) press(keys ...string) tea.Cmd {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown,
		"backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome,
		"tab": tea.KeyTab}
	var cmd tea.Cmd
	for _, k := range keys {
		if code, ok := special[k]; ok {
			cmd = s.send(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			cmd = s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return cmd
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// lines returns the lines of the screen without tones. It checks their width.
func (s *screen) lines() []string {
	s.t.Helper()
	lines := strings.Split(sgr.ReplaceAllString(s.m.draw(), ""), "\n")
	if len(lines) != s.m.height {
		s.t.Errorf("%d lines on a screen of %d", len(lines), s.m.height)
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > s.m.width {
			s.t.Errorf("line %d has %d of %d cells: %q", i, n, s.m.width, line)
		}
		if strings.ContainsAny(line, "\x1b\t\r") {
			s.t.Errorf("line %d: a control character: %q", i, line)
		}
	}
	return lines
}

func (s *screen) wants(texts ...string) {
	s.t.Helper()
	all := strings.Join(s.lines(), "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			s.t.Errorf("no %q on the screen:\n%s", text, all)
		}
	}
}

// names returns the first words of the rows in the list.
func (s *screen) names() []string {
	var names []string
	for _, line := range s.lines()[headLines+1 : s.m.height-footLines] {
		if f := strings.Fields(strings.Trim(line, "│├└─ ")); len(f) > 0 {
			names = append(names, f[0])
		}
	}
	return names
}

func TestListShowsTheTree(t *testing.T) {
	s := newScreen(t, 80, 24, master(0, 100), master(2*time.Second, 2500))
	s.wants("master", "up 1h00m", "4 actors", "├─ EventPublisher", "│  └─ MWorker-fast-0", "└─ Admin",
		"ReqServer/MWorker-fast-0 died 12s ago: disk [2J full (on master.Work)", "1200", "38%", "1.5s", "2.1ms",
		"? help")
	if got := fmt.Sprint(s.names()); got != "[master EventPublisher ReqServer MWorker-fast-0 Admin]" {
		t.Errorf("got %v", got)
	}
}

func TestSort(t *testing.T) {
	s := newScreen(t, 80, 24, master(0, 100), master(2*time.Second, 2500))
	for _, tt := range []struct {
		key   string
		first string
		title string
	}{
		{"r", "ReqServer/MWorker-fast-0", "MSG/S▼"},
		{"r", "Admin", "MSG/S▲"}, // reverse order
		{"m", "ReqServer/MWorker-fast-0", "WAIT▼"},
		{"d", "ReqServer/MWorker-fast-0", "ACTOR"}, // on a narrow screen its column is missing
		{"n", "Admin", "ACTOR▼"},
		{"i", "ReqServer/MWorker-fast-0", "ACTOR▲"},
		{"t", "master", "ACTOR "},
		{"S", "ReqServer/MWorker-fast-0", "ACTOR"}, // backwards from the tree comes the last column
		{"s", "master", "ACTOR "},
	} {
		s.press(tt.key)
		if got := s.names()[0]; got != tt.first {
			t.Errorf("%s: first is %s, want %s", tt.key, got, tt.first)
		}
		s.wants(tt.title)
	}
}

func TestFilter(t *testing.T) {
	s := newScreen(t, 80, 24, master(0, 100))
	s.press("/", "worker")
	s.wants("filter: worker█")
	if got := fmt.Sprint(s.names()); got != "[master ReqServer MWorker-fast-0]" {
		t.Errorf("with those above it: got %v", got)
	}
	s.press("enter", "enter") // opens the actor that was found
	s.wants("master/ReqServer/MWorker-fast-0", "running for")
	s.press("esc", "r")
	if got := fmt.Sprint(s.names()); got != "[ReqServer/MWorker-fast-0]" {
		t.Errorf("flat: got %v", got)
	}
	s.press("/", "x")
	s.wants("no actor matches")
	s.press("backspace", "esc", "t")
	if got := len(s.names()); got != 5 {
		t.Errorf("without a filter: %d rows", got)
	}
	s.send(tea.PasteMsg{Content: "lost"}) // the filter is not open
	s.press("/")
	s.send(tea.PasteMsg{Content: "Ad\x1bmin"})
	if s.m.filter != "Ad min" || len(s.m.shown) != 2 {
		t.Errorf("pasted: %q", s.m.filter)
	}
	s.press("esc", "z")
	if got := fmt.Sprint(s.names()); got != "[master ReqServer MWorker-fast-0]" {
		t.Errorf("busy only: got %v", got)
	}
}

func TestActorPage(t *testing.T) {
	s := newScreen(t, 100, 40, master(0, 100), master(2*time.Second, 2500))
	s.press("enter") // a daemon has no page
	s.wants("├─ EventPublisher")
	s.press("end", "up", "enter")
	s.wants("master/ReqServer/MWorker-fast-0", "running for 1h00m", "3, the oldest for 1.5s", "master.Work for 2.5s",
		"1200/s", "p50 1.0µs  p99 2.1ms", "Last deaths, restarts in all 1", "disk [2J full", "main.go:7",
		"Lost        3 (crashed 1, full 2)", "Last slow handler", "on master.Work for 5.0s, abandoned", "main.go:9",
		"set aside 1", "master.Work, 42 bytes, 0123456789ab: boom")
	s.run(s.press("s"))
	s.wants("Goroutines", "goroutine of master/ReqServer/MWorker-fast-0")
	s.press("n")
	s.wants("master/Admin", "No deaths")
	s.press("q")
	s.wants("├─ EventPublisher")
	s.press("?")
	s.wants("Keys", "sort by", "any key")
	s.press("x")
	s.wants("├─ EventPublisher")
}

// TestActorThatIsGone: a job ends while its page is open.
func TestActorThatIsGone(t *testing.T) {
	gone := master(2*time.Second, 1)
	gone.Roots[0].Children = gone.Roots[0].Children[:1]
	s := newScreen(t, 80, 24, master(0, 100))
	s.press("end", "enter")
	s.looks = []*Look{gone}
	s.run(s.m.ask())
	s.wants("master/Admin is gone")
	s.press("esc")
	if s.m.cursor != "master/EventPublisher" {
		t.Errorf("the cursor is at %q", s.m.cursor)
	}
}

func TestNoAnswer(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.wants("asking")
	s.err = errors.New("no daemon answers on x")
	s.run(s.m.ask())
	s.wants("no daemon answers")
	s.err, s.looks = nil, []*Look{master(0, 1)}
	s.run(s.m.ask())
	s.wants("EventPublisher")
	s.err = errors.New("no daemon answers on x")
	s.run(s.m.ask())
	s.wants("EventPublisher", "NO ANSWER", "no daemon answers")
}

func TestPauseAndPace(t *testing.T) {
	s := newScreen(t, 80, 24, master(0, 1))
	s.press("p")
	s.wants("PAUSED")
	if cmd := s.send(ticked{s.m.turn}); cmd != nil {
		t.Error("it looks while it is paused")
	}
	if cmd := s.press("p"); cmd == nil || !s.m.asking {
		t.Error("it does not go on")
	}
	s.m.asking = false
	s.press("+")
	s.wants("500ms")
	for range 20 {
		s.press("-")
	}
	if s.m.opt.Every != longest {
		t.Errorf("every %v", s.m.opt.Every)
	}
	if cmd := s.send(ticked{s.m.turn - 1}); cmd != nil {
		t.Error("an old tick counts")
	}
	if cmd := s.press("q"); cmd == nil {
		t.Error("q does not end it")
	} else if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("q does not end it")
	}
}

func TestFleet(t *testing.T) {
	look := master(0, 1)
	other := look.Roots[0]
	other.Name, other.Path = "web2", "web2"
	look.Roots, look.Silent = append(look.Roots, other), []string{"db1: no brine minion"}
	s := newScreen(t, 100, 24, look)
	s.wants("2 of 3 answered", "silent: db1: no brine minion", "web2")
	s.press("r")
	s.wants("master/ReqServer/MWorker-fast-0")
}

// TestEverySize: no page ever has too many or too long lines. With Plain there are no colors.
func TestEverySize(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {10, 3}, {30, 8}, {40, 12}, {60, 15}, {72, 20}, {80, 24}, {100, 30},
		{132, 43}, {160, 50}, {200, 60}, {400, 100}} {
		s := newScreen(t, size[0], size[1], master(0, 100), master(2*time.Second, 1<<60))
		for _, plain := range []bool{false, true} {
			s.m.opt.Plain = plain
			for _, keys := range [][]string{{"t"}, {"b"}, {"/", "x", "esc"}, {"?"}, {"?"}, {"t", "end", "up", "enter"},
				{"end"}, {"esc", "home"}} {
				s.press(keys...)
				s.lines()
				if colors := regexp.MustCompile("\x1b\\[[0-9;]*[34][0-9]"); plain && colors.MatchString(s.m.draw()) {
					t.Errorf("a color on a plain screen: %q", s.m.draw())
				}
			}
		}
	}
}

// TestFactsAreWhole: on a screen of the usual size, an actor's page cuts nothing but code.
func TestFactsAreWhole(t *testing.T) {
	s := newScreen(t, 80, 60, master(0, 100), master(2*time.Second, 2500))
	look := s.looks[0]
	worker := &look.Roots[0].Children[1].Children[0]
	worker.Deaths[0].Reason = strings.Repeat("the disk is full and ", 8) + "that was all"
	worker.LastSlow.Message = "*master.AnswerThatTakesALongTime"
	s.press("end", "up", "enter")
	s.run(s.m.ask())
	s.wants("that was all", "master.AnswerThatTakesALongTime", "5.0s, abandoned")
	for _, line := range s.lines() {
		if strings.Contains(line, "…") {
			t.Errorf("cut: %s", line)
		}
	}
}

// TestHelpIsWhole: on a screen of the usual size, the help is not cut.
func TestHelpIsWhole(t *testing.T) {
	s := newScreen(t, 80, 24, master(0, 100))
	s.press("?")
	for _, line := range s.lines() {
		if strings.Contains(line, "…") {
			t.Errorf("cut: %s", line)
		}
	}
}

// TestHeaderFillsTheScreen: at every width, titles and rows have the same columns.
func TestHeaderFillsTheScreen(t *testing.T) {
	for width := 24; width <= 240; width++ {
		l := arrange(width, 24)
		if n := utf8.RuneCountInString(l.header("r", false)); n != width {
			t.Errorf("%d cells: the header has %d", width, n)
		}
	}
}

func TestOnceAndTree(t *testing.T) {
	look := master(0, 100)
	look.Silent = []string{"db1: no answer"}
	text := Once("master", look, 0)
	for _, want := range []string{"master  up 1h00m  pid 7\n", "4 actors", "silent: db1: no answer", "ACTOR ",
		"│  └─ MWorker-fast-0  running", "10s ago: disk [2J full"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") || strings.Contains(text, " \n") {
		t.Errorf("control characters or blanks at line ends:\n%q", text)
	}
	one := Tree(look.Roots[0].Children[2], noon, 0)
	if want := "Admin  running  1h00m  0         0        -       0      0%    2.1ms  0\n"; !strings.HasSuffix(one,
		want) {
		t.Errorf("got\n%s", one)
	}
}

// TestTreeFits: no line of the table is longer than the terminal. Names and last deaths stay, and at every
// width columns are complete.
func TestTreeFits(t *testing.T) {
	root := master(0, 100).Roots[0]
	for width := 24; width <= 200; width++ {
		text := Tree(root, noon, width)
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("%d cells: a line has %d:\n%s", width, n, text)
			}
		}
		if !strings.Contains(text, "MWorker-fast-0") {
			t.Errorf("%d cells: no name in\n%s", width, text)
		}
		if width >= 80 && (!strings.Contains(text, "10s ago: disk") || !strings.Contains(text, " WAIT") ||
			!strings.Contains(text, " STATE")) {
			t.Errorf("%d cells: too little in\n%s", width, text)
		}
	}
	if Tree(root, noon, 0) != Tree(root, noon, 500) {
		t.Error("a wide terminal shows less than a pipe")
	}
}

// TestRun shows the screen on a terminal in memory, and a key ends it.
func TestRun(t *testing.T) {
	s := &screen{t: t, looks: []*Look{master(0, 1)}}
	var out strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := Run(ctx, Options{Title: "master", Source: s, Every: time.Second, In: strings.NewReader("q"),
		Out: &out}); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("q did not end it")
	}
}
