package top

// tone is the emphasis of a piece of text.
type tone int

const (
	plain tone = iota
	bold
	dim
	good
	warn
	bad
	accent
	inverse
	alarm
)

// codes are the SGR parameters of the tones, with and without colors. They use only the sixteen colors that
// every terminal has, in the user's own shades.
var (
	colored = [...]string{bold: "1", dim: "2", good: "32", warn: "33", bad: "1;31", accent: "36", inverse: "7",
		alarm: "1;37;41"}
	bare = [...]string{bold: "1", dim: "2", good: "", warn: "", bad: "1", accent: "", inverse: "7", alarm: "1;7"}
)

// paint puts a text into a tone.
func (m *model) paint(t tone, text string) string {
	code := colored[t]
	if m.opt.Plain {
		code = bare[t]
	}
	if code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
