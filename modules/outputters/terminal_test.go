package outputters

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"brine/wire/payload"
)

// hostile is what a minion says to the terminal of an operator: clipboard, title, cursor, colours, direction, line
// ends.
const hostile = "a\x1b]52;c;QQ==\a\x1b]0;t\x07\x1b[2J\x1b[0;8mb\x9b2J\u009b2Jc\x7f\b\bd\re\u202ef\u2066g\x00"

// ourColor is what Options.color writes.
var ourColor = regexp.MustCompile("\x1b\\[0;[0-9;]+m")

// unprintable finds what must not reach a terminal in a text.
func unprintable(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r) || r == '\u202e' || r == '\u2066'
	})
}

// TestTerminal: no outputter lets a minion control a terminal, by a key, a text, bytes or a whole return.
func TestTerminal(t *testing.T) {
	for _, data := range []any{
		hostile, []any{hostile}, payload.M(hostile, hostile),
		payload.M("web1", payload.M(hostile, []any{hostile, []byte(hostile)})), payload.M("minions", []any{hostile}),
		payload.M("minions_pre", payload.M(hostile, hostile)), payload.M("web1", []any{payload.M("x", hostile)}),
		payload.M("web1", payload.M("x_|-"+hostile+"_|-y_|-z", payload.M("result", false, "comment", hostile, "name",
			hostile, "__id__", hostile, "__run_num__", 0, "start_time", hostile, "duration", 1.5, "changes",
			payload.M(hostile, hostile)))),
	} {
		for _, name := range allOutputters {
			for _, color := range []bool{false, true} {
				text, _ := Format(name, data, Options{Color: color, Terminal: true})
				if bare := ourColor.ReplaceAllString(text, ""); unprintable(bare) ||
					strings.Contains(text, "\x1b[0;8m") || !color && bare != text {
					t.Errorf("%s, colour %v: %q", name, color, text)
				}
				if text, _ = Format(name, data, Options{Color: color, Terminal: true, KeepEscapes: true}); unprintable(
					ourColor.ReplaceAllString(text, "")) {
					t.Errorf("%s with strip_colors: False: %q", name, text)
				}
			}
		}
	}
}

// TestImitation: on a terminal no line that comes from what a minion says begins as a line of another minion does.
func TestImitation(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r", "\v", "\u2028", "\u0085"} {
		evil := "x" + end + "honest:" + end + "    True" + end + "honest: True"
		state := payload.M("result", true, "comment", evil, "name", evil, "__id__", evil, "__sls__", evil,
			"__run_num__", 0, "start_time", evil, "duration", evil, "changes", payload.M(evil, evil, "diff", evil))
		bad := state.Clone().Set("result", false).Set("duration", 1.5)
		for _, said := range []any{
			evil, []any{evil, []any{evil}, payload.M(evil, 1)}, payload.M(evil, evil),
			payload.M("a", payload.M(evil, payload.M(evil, []any{evil}))), []byte(evil),
			payload.M("x_|-"+evil+"_|-"+evil+"_|-z", state), payload.M("x_|-a_|-"+evil+"_|-z"+evil, bad),
			payload.M(evil, bad), payload.M("x_|-a_|-b_|-"+evil, bad.Clone().Set("changes",
				payload.M("ret", payload.M(evil, bad)))), payload.M("data", payload.M(evil, evil), "outputter", evil),
			payload.M("x_|-a_|-b_|-c", bad.Clone().Set("comment", []any{evil})),
			payload.M("jid", "1", "fun", "runner.state.orch", "return",
				payload.M("data", payload.M("honest", payload.M("x_|-a_|-b_|-c", state)))),
			payload.M("return", payload.M("honest", true)), payload.M("data", payload.M("honest", true)),
			payload.M("minions", []any{"honest"}), []any{payload.M(evil, evil), payload.M(evil, evil)},
		} {
			for _, name := range append([]string{"grains", "no such" + evil}, allOutputters...) {
				if Choose("", name, false, "test.ping") == "" {
					continue // not for a minion to choose
				}
				text, _ := Format(name, payload.M("thief", said), Options{Terminal: true, Minions: true, Color: true})
				for line := range strings.Lines(ourColor.ReplaceAllString(text, "")) {
					if strings.HasPrefix(line, "honest") {
						t.Errorf("%s: %q shows\n%s", name, said, text)
					}
				}
			}
		}
	}
}

func TestTerminalTexts(t *testing.T) {
	for _, tt := range []struct {
		name string
		data any
		o    Options
		want string
	}{
		{"nested", payload.M("w", "a\r\nb\x1b[1m\u009b"), Options{}, "w:\n    a\n    b?[1m\\u009b"},
		{"nested", payload.M("w\x1b", 1, "w?", 2), Options{Color: true},
			"\x1b[0;36mw?\x1b[0;0m:\n    \x1b[0;1;33m2\x1b[0;0m\n\x1b[0;36mw??\x1b[0;0m:\n    \x1b[0;1;33m1\x1b[0;0m"},
		{"nested", payload.M("w", "\x1b[1mbold\x1b[2J"), Options{KeepEscapes: true}, "w:\n    \x1b[1mbold\\x1b[2J"},
		{"txt", payload.M("w", "\x1b[1m\x7f"), Options{Color: true}, `w: \x1b[1m\x7f`},
		{"json", payload.M("w", "\x1b\u202e"), Options{Color: true, Indent: Indent{Kind: IndentNull}},
			`{"w": "\u001b\u202e"}`},
		{"raw", "a\x1b[1m\nb", Options{Color: true}, `a\x1b[1m` + "\nb"},
	} {
		tt.o.Terminal = true
		if got, err := Format(tt.name, tt.data, tt.o); err != nil || got != tt.want {
			t.Errorf("%s of %v: got %q, %v, want %q", tt.name, tt.data, got, err, tt.want)
		}
	}
}
