package saltlog

import (
	"runtime"
	"strconv"
	"strings"
	"time"
)

// record holds the values that a format can show.
type record struct {
	time                 time.Time
	level, name, message string
	pc                   uintptr
}

// piece is literal text, or one %(field)WIDTHs of a Python format.
type piece struct {
	text  string
	field string // "" for literal text
	left  bool   // -
	zero  bool   // 0
	width int
	prec  int  // digits after the point of a number, or the most letters of a text; -1: none given
	verb  byte // s, d, r, i or f
}

// compile parses a Python logging format. A part that it does not understand stays literal text.
func compile(format string) []piece {
	var out []piece
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return append(out, piece{text: format})
		}
		if i > 0 {
			out = append(out, piece{text: format[:i]})
		}
		format = format[i:]
		if strings.HasPrefix(format, "%%") {
			out, format = append(out, piece{text: "%"}), format[2:]
			continue
		}
		p, rest, ok := field(format)
		if !ok {
			p, rest = piece{text: "%"}, format[1:]
		}
		out, format = append(out, p), rest
	}
	return out
}

// field parses one %(name)FLAGS-WIDTH-TYPE at the beginning of s.
func field(s string) (p piece, rest string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(s, "%("), ")")
	if !ok || !strings.HasPrefix(s, "%(") {
		return p, s, false
	}
	p.field, p.prec = name, -1
	for rest != "" && strings.ContainsRune("-0 +#", rune(rest[0])) {
		p.left = p.left || rest[0] == '-'
		p.zero = p.zero || rest[0] == '0'
		rest = rest[1:]
	}
	for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		p.width = min(p.width*10+int(rest[0]-'0'), 1000)
		rest = rest[1:]
	}
	if strings.HasPrefix(rest, ".") {
		for p.prec, rest = 0, rest[1:]; rest != "" && rest[0] >= '0' && rest[0] <= '9'; rest = rest[1:] {
			p.prec = min(p.prec*10+int(rest[0]-'0'), 100)
		}
	}
	if rest == "" || !strings.ContainsRune("sdrif", rune(rest[0])) {
		return p, s, false
	}
	p.verb = rest[0]
	return p, rest[1:], true
}

func render(format []piece, r *record, date string) []byte {
	var b []byte
	for _, p := range format {
		text := p.text
		if p.field != "" {
			text = p.pad(p.precise(r.value(p.field, date)))
		}
		b = append(b, text...)
	}
	return b
}

// precise writes a value with the digits or letters that its format demands, as Python's % does.
func (p piece) precise(s string) string {
	switch letters := []rune(s); {
	case p.verb == 'f':
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			digits := p.prec
			if digits < 0 {
				digits = 6
			}
			return strconv.FormatFloat(n, 'f', digits, 64)
		}
	case (p.verb == 's' || p.verb == 'r') && p.prec >= 0 && len(letters) > p.prec:
		return string(letters[:p.prec])
	}
	return s
}

func (p piece) pad(s string) string {
	missing := p.width - len([]rune(s))
	switch {
	case missing <= 0:
		return s
	case p.left:
		return s + strings.Repeat(" ", missing)
	case p.zero:
		return strings.Repeat("0", missing) + s
	}
	return strings.Repeat(" ", missing) + s
}

// value returns one field of a record. Unknown fields are empty.
func (r *record) value(name, date string) string {
	switch name {
	case "asctime":
		return strftime(r.time, date)
	case "msecs":
		return strconv.Itoa(r.time.Nanosecond() / int(time.Millisecond))
	case "created":
		return strconv.FormatFloat(float64(r.time.UnixMicro())/1e6, 'f', 6, 64)
	case "levelname":
		return r.level
	case "message":
		return r.message
	case "name":
		return r.name
	case "processName":
		return "MainProcess" // Python's name for the first process of a program
	case "process":
		return strconv.Itoa(pid())
	case "lineno":
		return strconv.Itoa(r.frame().Line)
	case "filename", "pathname", "module":
		f := r.frame().File
		return f[strings.LastIndexByte(f, '/')+1:]
	case "funcName":
		f := r.frame().Function
		return f[strings.LastIndexByte(f, '.')+1:]
	}
	return r.shaped(name)
}

// shaped returns one of the bracketed and coloured fields that Salt adds.
func (r *record) shaped(name string) string {
	level, msg := colours(r.level)
	bracket := func(s string, width int) string { return "[" + piece{left: true, width: width}.pad(s) + "]" }
	process := "[" + piece{width: 5}.pad(strconv.Itoa(pid())) + "]"
	switch name {
	case "bracketname":
		return bracket(r.name, 17)
	case "bracketlevel":
		return bracket(r.level, 8)
	case "bracketprocess":
		return process
	case "colorname":
		return "\x1b[0;1;32m" + bracket(r.name, 17) + reset
	case "colorlevel":
		return level + bracket(r.level, 8) + reset
	case "colorprocess":
		return "\x1b[0;1;34m" + process + reset
	case "colormsg":
		return msg + r.message + reset
	}
	return ""
}

func (r *record) frame() runtime.Frame {
	if r.pc == 0 {
		return runtime.Frame{}
	}
	f, _ := runtime.CallersFrames([]uintptr{r.pc}).Next()
	return f
}

const reset = "\x1b[0;0m"

// colours returns the escape sequences for a level's name and for its message (LOG_COLORS).
func colours(level string) (name, message string) {
	switch level {
	case "CRITICAL":
		return "\x1b[0;1;31m", "\x1b[0;1;31m"
	case "ERROR":
		return "\x1b[0;1;31m", "\x1b[0;31m"
	case "WARNING":
		return "\x1b[0;1;33m", "\x1b[0;33m"
	case "INFO":
		return "\x1b[0;1;32m", "\x1b[0;32m"
	case "PROFILE":
		return "\x1b[0;1;36m", "\x1b[0;1;36m"
	case "DEBUG":
		return "\x1b[0;1;36m", "\x1b[0;36m"
	case "TRACE":
		return "\x1b[0;1;35m", "\x1b[0;35m"
	}
	return "\x1b[0;1;34m", "\x1b[0;34m"
}

// layouts translates letters of C's strftime into Go's layouts.
var layouts = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'I': "03", 'M': "04", 'S': "05",
	'p': "PM", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'Z': "MST", 'z': "-0700", 'j': "002",
	'T': "15:04:05", 'F': "2006-01-02", 'D': "01/02/06", 'R': "15:04"}

// strftime formats t like C's strftime. Unknown letters stay as they are.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch layout, known := layouts[format[i]]; {
		case format[i] == '%':
			b.WriteByte('%')
		case format[i] == 'f':
			b.WriteString(t.Format(".000000")[1:])
		case known:
			b.WriteString(t.Format(layout))
		default:
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}
