package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tokens are patterns for the variable parts of recorded texts. A site's vars hold the parts that it knows
// exactly.
var tokens = map[string]string{
	"{JID}": `\d{20}`, "{PID}": `\d+`, "{LINE}": `\d+`, "{HMS}": `\d\d:\d\d:\d\d\.\d{6}`, "{DUR}": `\d+(\.\d+)?`,
	"{FLOAT}": `-?\d+(\.\d+)?(e-?\d+)?`, "{TOTAL}": ` *\d+(\.\d+)? +m?s`, "{HOST}": `\S+`, "{VERSION}": `\S+`,
	"{STARTTIME}": `\d{4}, [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\.\d{6}`, "{CODENAME}": `[^()\n]+`, "{RAND}": `\w+`,
	"{ISO}": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}`, "{FINGER}": `[0-9a-f]{2}(:[0-9a-f]{2}){31}`,
	"{FRAMES}": `(?s:.*?)`, "{DOC}": `(?s:.*?)`, "{HELP}": `(?s:.*?)`, "{LOGTEXT}": `[^\n]*`,
	"{WEBS}": `(web1, web2|web2, web1)`,
}

var tokenName = regexp.MustCompile(`\{[A-Z0-9]+\}`)

// pattern turns a recorded text into a pattern.
func (s *goldenSite) pattern(text string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for text != "" {
		at := tokenName.FindStringIndex(text)
		if at == nil {
			b.WriteString(regexp.QuoteMeta(text))
			break
		}
		b.WriteString(regexp.QuoteMeta(text[:at[0]]))
		switch name := text[at[0]:at[1]]; {
		case s.vars[name] != "":
			b.WriteString(regexp.QuoteMeta(s.vars[name]))
		case tokens[name] != "":
			b.WriteString(tokens[name])
		default:
			b.WriteString(regexp.QuoteMeta(name))
		}
		text = text[at[1]:]
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// compare describes the difference from an accepted outcome. It is "" if no relevant difference exists.
func (s *goldenSite) compare(c *goldenCase, want, got *outcome) string {
	if s.slower {
		w := *want
		w.Stdout = strings.ReplaceAll(w.Stdout, shortArg, longArg)
		want = &w
	}
	switch {
	case want.Exit != got.Exit:
		return fmt.Sprintf("exit %d wanted", want.Exit)
	case !s.sameText(want.Stdout, got.Stdout, c.Order != ""):
		return "stdout wanted:\n" + want.Stdout
	case c.OutputFile != "" && !s.sameText(want.File, got.File, false):
		return fmt.Sprintf("output file %q, wanted %q", got.File, want.File)
	}
	a, b := stderrItems(want.Stderr), stderrItems(got.Stderr)
	if !s.sameText(strings.Join(a, "\n"), strings.Join(b, "\n"), false) {
		return fmt.Sprintf("stderr wanted:\n%s\nwhat counts of it: %q\ngot: %q", want.Stderr, a, b)
	}
	return ""
}

// sameText compares a text with a recorded one. {WEBX} is the same minion throughout.
func (s *goldenSite) sameText(want, got string, anyOrder bool) bool {
	for _, web := range []string{"web1", "web2"} {
		w := strings.ReplaceAll(want, "{WEBX}", web)
		if s.pattern(w).MatchString(got) || anyOrder && s.sameBlocks(w, got) {
			return true
		}
	}
	return false
}

// sameBlocks compares texts whose blocks may be in any order. A block is a line without indent, with the
// indented lines below it. If that fails, the lines may be in any order, and commas at their ends do not count.
func (s *goldenSite) sameBlocks(want, got string) bool {
	want, got = anyBatch(want), anyBatch(got)
	if s.permutes(blocks(want), blocks(got)) {
		return true
	}
	lines := func(text string) []string {
		list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i := range list {
			list[i] = strings.TrimSuffix(list[i], ",")
		}
		return list
	}
	return s.permutes(lines(want), lines(got))
}

var batchLine = regexp.MustCompile(`(?m)^Executing run on .*$`)

// anyBatch hides which minions make up a batch, because that is chance.
func anyBatch(text string) string {
	return batchLine.ReplaceAllStringFunc(text, func(line string) string {
		return strings.Repeat("minion,", strings.Count(line, ",")+1)
	})
}

func blocks(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if len(list) > 0 && strings.HasPrefix(line, " ") {
			list[len(list)-1] += line
		} else {
			list = append(list, line)
		}
	}
	return list
}

// permutes tells whether each wanted item can be paired with an item of got. The most exact items choose first.
func (s *goldenSite) permutes(want, got []string) bool {
	want, got = slices.Clone(want), slices.Clone(got)
	slices.SortStableFunc(want, func(a, b string) int {
		return len(tokenName.FindAllString(a, -1)) - len(tokenName.FindAllString(b, -1))
	})
	for _, w := range want {
		i := slices.IndexFunc(got, s.pattern(w).MatchString)
		if i < 0 {
			return false
		}
		got = slices.Delete(got, i, i+1)
	}
	return len(got) == 0
}

var (
	logLine = regexp.MustCompile(`^(?:# )?(\[[A-Z]+ *\])`)
	// plainLine matches lines that tools print themselves, even behind a log message of several lines.
	plainLine = regexp.MustCompile(`^(ERROR: |Error: |The salt |The Salt |Usage: )`)
	noise     = regexp.MustCompile("^(\\[WARNING \\] )?unclosed .*; call ``(destroy|close)\\(\\)`` or use as a " +
		"context manager$")
)

// stderrItems reduces stderr to plain lines and the levels of log messages.
func stderrItems(text string) []string {
	var items []string
	inLog := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch level := logLine.FindStringSubmatch(line); {
		case noise.MatchString(line):
		case level != nil:
			items, inLog = append(items, level[1]), true
		case inLog && !plainLine.MatchString(line):
		default:
			items, inLog = append(items, line), false
		}
	}
	return items
}

// TestGoldenMatch tests the comparison itself with texts that match and texts that do not.
func TestGoldenMatch(t *testing.T) {
	s := &goldenSite{vars: map[string]string{"{ROOT}": "/r"}}
	for _, tt := range []struct {
		want, got string
		order     bool
		same      bool
	}{
		{"a {JID} {ROOT}/x\n", "a 20260102030405060708 /r/x\n", false, true},
		{"a {JID}\n", "a 2026\n", false, false},
		{"{WEBX} {WEBX}", "web2 web2", false, true},
		{"{WEBX} {WEBX}", "web1 web2", false, false},
		{"Usage:\n{DOC}\n", "Usage:\n\n  x\n\n", false, true},
		{"web1:\n    True\ndb1:\n    {FLOAT}\n", "db1:\n    1.5\nweb1:\n    True\n", true, true},
		{"web1:\n    True\ndb1:\n    False\n", "db1:\n    True\nweb1:\n    True\n", true, false},
		{"web1:\n    1\n", "web1:\n    1\nweb1:\n    1\n", true, false},
		{"{\n    \"a\": 1,\n    \"b\": 2\n}\n", "{\n    \"b\": 2,\n    \"a\": 1\n}\n", true, true},
		{"{not a token}", "{not a token}", false, true},
		{"Executing run on ['a', 'b']\n\n", "Executing run on ['b', 'c']\n\n", true, true},
		{"Executing run on ['a', 'b']\n", "Executing run on ['a']\n", true, false},
	} {
		if got := s.sameText(tt.want, tt.got, tt.order); got != tt.same {
			t.Errorf("%q and %q: same %v, want %v", tt.want, tt.got, got, tt.same)
		}
	}
	for _, tt := range []struct{ a, b string }{
		{"[ERROR   ] one\nmore\n[WARNING ] two\n", "[ERROR   ] other\n[WARNING ] x\ny\nz\n"},
		{"plain\n", "plain\nunclosed Foo; call ``destroy()`` or use as a context manager\n"},
		{"[ERROR   ] x\nERROR: no\n", "[ERROR   ] y\nfoo\nERROR: no\n"},
	} {
		if a, b := stderrItems(tt.a), stderrItems(tt.b); !slices.Equal(a, b) {
			t.Errorf("%q and %q differ", a, b)
		}
	}
	if slices.Equal(stderrItems("[ERROR   ] x\nERROR: no\n"), stderrItems("[ERROR   ] y\n")) {
		t.Error("a missing plain line was not noticed")
	}
}
