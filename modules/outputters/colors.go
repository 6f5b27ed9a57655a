package outputters

import "strings"

// Colour names of salt/utils/color.py and the codes between "ESC[" and "m".
const (
	darkGray     = "DARK_GRAY"
	red          = "RED"
	lightRed     = "LIGHT_RED"
	green        = "GREEN"
	lightGreen   = "LIGHT_GREEN"
	lightYellow  = "LIGHT_YELLOW"
	blue         = "BLUE"
	lightBlue    = "LIGHT_BLUE"
	magenta      = "MAGENTA"
	lightMagenta = "LIGHT_MAGENTA"
	cyan         = "CYAN"
	lightGray    = "LIGHT_GRAY"
	white        = "WHITE"
	endColor     = "ENDC"
)

// colorCode is the code of a colour by Salt's own theme.
func colorCode(name string) string {
	switch name {
	case "BLACK":
		return "0;30"
	case darkGray:
		return "0;1;30"
	case red:
		return "0;31"
	case lightRed:
		return "0;1;31"
	case green:
		return "0;32"
	case lightGreen:
		return "0;1;32"
	case "YELLOW":
		return "0;33"
	case lightYellow:
		return "0;1;33"
	case blue:
		return "0;34"
	case lightBlue:
		return "0;1;34"
	case magenta:
		return "0;35"
	case lightMagenta:
		return "0;1;35"
	case cyan:
		return "0;36"
	case "LIGHT_CYAN":
		return "0;1;36"
	case lightGray:
		return "0;37"
	case white:
		return "0;1;37"
	case "DEFAULT_COLOR":
		return "0;39"
	case endColor:
		return "0;0"
	}
	return ""
}

func (o *Options) color(name string) string {
	if !o.Color {
		return ""
	}
	code, themed := o.Theme[name]
	if !themed {
		code = colorCode(name)
	}
	if code == "" && !themed {
		return ""
	}
	return "\x1b[" + code + "m"
}

// clean replaces ESC in text that came from a minion, so that it moves no cursors.
func (o *Options) clean(s string) string {
	if o.KeepEscapes {
		return s
	}
	return strings.ReplaceAll(s, "\x1b", "?")
}

// line is one coloured line: blanks, colour, prefix, text, end of colour, suffix.
func (o *Options) line(indent int, color, prefix, text, suffix string) string {
	return strings.Repeat(" ", indent) + o.color(color) + prefix + text + o.color(endColor) + suffix
}
