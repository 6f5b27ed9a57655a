package matchers

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/wire/python/re"
)

// TestLines: a line is an id, a glob, or a regular expression over the whole id.
func TestLines(t *testing.T) {
	var l Lines
	for _, tt := range []struct {
		line string
		yes  string // ids that match, and ids that do not, separated by blanks
		no   string
	}{
		{"web1", "web1", "web10 Web1 aweb1"},
		{"web1.example.com", "web1.example.com web1xexample.com", "web1.example.co web1.example.comm"},
		{"web*", "web web1 web1.example.com", "aweb"},
		{"web?", "web1 webx web we", "web10 w"}, // the last two as an expression
		{"web[1-3]", "web1 web3", "web4 web[1-3]x"},
		{"web[!1-3]", "web4 web1", "web web44"}, // web1 as an expression
		{"web[^1-3]", "web4 web^ web1", "web"},  // a set with ^ for fnmatch, a negated one as expression
		{"web[]]", "web]", "web["},
		{"web[", "web[", "web"},
		{`web\d+`, "web1 web123", "web web1a"},
		{`web\d+|db\d`, "web12 db1", "web12x xdb1 db12"},
		{`^web1$`, "web1", "web12"},
		{`(?!bad).*[.]lan`, "good.lan", "bad.lan good.lan.x"},
		{`web(`, "web(", "web"},
		{`.*\Z`, "x", ""},
		{"***", "x", ""},
		{"ü*", "ü1", "u1"},
	} {
		for _, id := range strings.Fields(tt.yes) {
			if hit, err := l.Any([]string{tt.line}, id); !hit || err != nil {
				t.Errorf("%q does not match %q", tt.line, id)
			}
		}
		for _, id := range strings.Fields(tt.no) {
			if hit, err := l.Any([]string{tt.line}, id); hit || err != nil {
				t.Errorf("%q matches %q", tt.line, id)
			}
		}
	}
	for _, line := range []string{`(a+)+b`, "*"} {
		if hit, err := l.Any([]string{line}, strings.Repeat("a", 300)); hit || err != nil {
			t.Errorf("%q matches an id that cannot be a file name: %v", line, err)
		}
	}
}

// TestLinesTogether: what is no line means nobody; one line of many is enough.
func TestLinesTogether(t *testing.T) {
	var l Lines
	lines := []string{"", "# web1", "#web2", "db*", "(", `(?i)WEB\d`}
	for id, want := range map[string]bool{"db1": true, "# web1": false, "#web2": false, "web3": true, "": false,
		"x": false} {
		if hit, err := l.Any(lines, id); hit != want || err != nil {
			t.Errorf("%q: %v, %v", id, hit, err)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	var l Lines
	for i := range 2 * maxLines {
		line := "w*" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		if _, err := l.Any([]string{line}, "web"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.lines); n == 0 || n > maxLines {
		t.Errorf("%d compiled lines are kept", n)
	}
}

// TestSlowLines: of a file of lines that would take years one is waited for, nobody is meant by them, lines that take
// no time count all the same, and each slow one is named once. It is asked again when it has rested.
func TestSlowLines(t *testing.T) {
	now := time.Unix(0, 0)
	var told []string
	l := Lines{Slow: func(line string) { told = append(told, line) }, Now: func() time.Time { return now }}
	victim := strings.Repeat("a", 44)
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf(`(?!db%d)([a-z]+)*\d`, i))
	}
	any := func(id string) (bool, error) { return l.Any(lines, id) }
	if hit, err := any(victim); hit || !errors.Is(err, ErrSlow) || !strings.Contains(err.Error(), "db0") {
		t.Fatalf("%v, %v", hit, err)
	}
	if len(told) != 1 || told[0] != lines[0] {
		t.Errorf("told %q", told)
	}
	if hit, err := l.Any(lines[:1], "web1"); hit || !errors.Is(err, ErrSlow) {
		t.Errorf("a line that rests: %v, %v", hit, err)
	}
	if hit, err := any("web1"); !hit || err != nil { // by the next one
		t.Errorf("beside a line that rests: %v, %v", hit, err)
	}
	lines = append(lines, "aaa*")
	if hit, err := any(victim); !hit || err != nil {
		t.Errorf("behind slow lines: %v, %v", hit, err)
	}
	now = now.Add(restShare*re.Timeout + time.Second)
	if hit, err := l.Any(lines[:1], "web1"); !hit || err != nil {
		t.Errorf("a line that has rested: %v, %v", hit, err)
	}
	if hit, err := l.Any(lines[:1], victim); hit || !errors.Is(err, ErrSlow) {
		t.Errorf("asked again: %v, %v", hit, err)
	}
	seen := map[string]bool{}
	for _, line := range told {
		if seen[line] {
			t.Errorf("told twice of %s", line)
		}
		seen[line] = true
	}
}

// TestSlowLineOfMany: many ids at the same time wait for one answer of a slow line, not each for one of its own.
func TestSlowLineOfMany(t *testing.T) {
	asked := atomic.Int64{}
	l := Lines{Slow: func(string) { asked.Add(1) }}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if hit, err := l.Any([]string{`(?!db)([a-z]+)*\d`}, strings.Repeat("a", 40+i)); hit ||
				!errors.Is(err, ErrSlow) {
				t.Errorf("%v, %v", hit, err)
			}
		})
	}
	all.Wait()
	if asked.Load() != 1 {
		t.Errorf("told %d times", asked.Load())
	}
}

// TestForbids: an entry of a list that keeps words out does so for a word that it takes too long for.
func TestForbids(t *testing.T) {
	slow := `(?!db)([a-z]+)*\d`
	for _, tt := range []struct {
		word, expr    string
		match, forbid bool
	}{
		{"dev", "dev", true, true}, {"dev", "d*", true, true}, {"dev", "d.v", true, true}, {"dev", "x|dev", true, true},
		{"dev", "prod", false, false}, {"dev", "(", false, false}, {strings.Repeat("a", 44), slow, false, true},
	} {
		if m, f := ExprMatch(tt.word, tt.expr), ExprForbids(tt.word, tt.expr); m != tt.match || f != tt.forbid {
			t.Errorf("%q and %q: match %v, forbid %v", tt.word, tt.expr, m, f)
		}
	}
}
