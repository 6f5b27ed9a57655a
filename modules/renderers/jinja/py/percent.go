package py

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// percenter formats with the % operator.
type percenter struct {
	w    *Work
	text string
	pos  int
	args []any
	next int
	dict *Dict
	used bool
	out  strings.Builder
}

// Percent is text % values.
func Percent(w *Work, text string, values any) (string, error) {
	p := &percenter{w: w, text: text}
	switch v := values.(type) {
	case *Tuple:
		p.args = v.Items
	case *Dict:
		p.dict, p.args = v, []any{v}
	default:
		p.args = []any{v}
	}
	for p.pos < len(text) {
		i := strings.IndexByte(text[p.pos:], '%')
		if i < 0 {
			i = len(text) - p.pos
		}
		p.out.WriteString(text[p.pos : p.pos+i])
		if p.pos += i; p.pos < len(text) {
			if err := p.one(); err != nil {
				return "", err
			}
		}
	}
	_, isList := values.(*List)
	if p.next < len(p.args) && p.dict == nil && (!isList || true) && !p.used {
		return "", typeError("not all arguments converted during string formatting")
	}
	return w.grown(p.out.String(), nil)
}

func (p *percenter) arg() (any, error) {
	if p.next >= len(p.args) {
		return nil, typeError("not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1], nil
}

// key reads (name) and takes that from the dictionary.
func (p *percenter) key() (any, bool, error) {
	if p.text[p.pos] != '(' {
		return nil, false, nil
	}
	if p.dict == nil {
		return nil, false, typeError("format requires a mapping")
	}
	end := strings.IndexByte(p.text[p.pos:], ')')
	if end < 0 {
		return nil, false, valueError("incomplete format key")
	}
	name := p.text[p.pos+1 : p.pos+end]
	p.pos += end + 1
	p.used = true
	v, ok := p.dict.GetStr(name)
	if !ok {
		return nil, false, Errorf("KeyError", "%s", quote(name))
	}
	return v, true, nil
}

func (p *percenter) number() (int64, error) {
	if p.pos < len(p.text) && p.text[p.pos] == '*' {
		p.pos++
		v, err := p.arg()
		if err != nil {
			return 0, err
		}
		n, ok := v.(int64)
		if !ok {
			return 0, typeError("* wants int")
		}
		return n, nil
	}
	n, rest, ok := leadingNumber(p.text[p.pos:])
	p.pos = len(p.text) - len(rest)
	if !ok {
		return 0, valueError("width too big")
	}
	return n, nil
}

// one formats what stands behind a percent sign.
func (p *percenter) one() error {
	incomplete := valueError("incomplete format")
	if p.pos++; p.pos >= len(p.text) {
		return incomplete
	}
	v, keyed, err := p.key()
	if err != nil {
		return err
	}
	s := spec{fill: " ", align: '>', precision: -1}
	for p.pos < len(p.text) && strings.IndexByte("-+ #0", p.text[p.pos]) >= 0 {
		switch c := p.text[p.pos]; c {
		case '-':
			s.align = '<'
		case '#':
			s.alt = true
		case '0':
			if s.align == '>' {
				s.fill, s.align = "0", '='
			}
		default:
			s.sign = c
		}
		p.pos++
	}
	if s.width, err = p.number(); err != nil {
		return err
	}
	if s.width < 0 {
		s.align, s.width, s.fill = '<', -s.width, " "
	}
	if p.pos < len(p.text) && p.text[p.pos] == '.' {
		p.pos++
		if s.precision, err = p.number(); err != nil {
			return err
		}
	}
	for p.pos < len(p.text) && strings.IndexByte("hlL", p.text[p.pos]) >= 0 {
		p.pos++
	}
	if p.pos >= len(p.text) {
		return incomplete
	}
	c, size := utf8.DecodeRuneInString(p.text[p.pos:])
	at := p.pos
	p.pos += size
	if c == '%' {
		p.out.WriteByte('%')
		return nil
	}
	if !keyed {
		if v, err = p.arg(); err != nil {
			return err
		}
	}
	return p.convert(c, v, s, at)
}

func (p *percenter) convert(c rune, v any, s spec, at int) error {
	var out string
	var err error
	switch c {
	case 's', 'r', 'a':
		out, err = Str(p.w, v)
		if c != 's' {
			out, err = Repr(p.w, v)
		}
		if err == nil {
			s.kind = 's'
			if s.align == '=' {
				s.align, s.fill = '>', " "
			}
			s.sign = 0
			out, err = formatText(p.w, out, s)
		}
	case 'd', 'i', 'u', 'x', 'X', 'o':
		out, err = p.integer(byte(c), v, s)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		var f float64
		if err = undefinedIn(v); err != nil {
			return err
		}
		n, ok := numberOf(v)
		if !ok {
			return typeError("must be real number, not %s", TypeName(v))
		}
		if f, err = n.float(); err == nil {
			s.kind = byte(c)
			out, err = formatFloat(p.w, number{isFloat: true, f: f}, s)
		}
	case 'c':
		switch x := v.(type) {
		case int64:
			out = string(rune(x))
		case string:
			out = x
		}
		if utf8.RuneCountInString(out) != 1 {
			return typeError("%%c requires int or char")
		}
	default:
		return valueError("unsupported format character '%c' (0x%x) at index %d", c, c,
			utf8.RuneCountInString(p.text[:at]))
	}
	p.out.WriteString(out)
	return err
}

func (p *percenter) integer(c byte, v any, s spec) (string, error) {
	if err := undefinedIn(v); err != nil {
		return "", err
	}
	n, ok := numberOf(v)
	if !ok {
		if strings.IndexByte("xXo", c) >= 0 {
			return "", typeError("%%%c format: an integer is required, not %s", c, TypeName(v))
		}
		return "", typeError("%%%c format: a real number is required, not %s", c, TypeName(v))
	}
	b := n.big()
	if n.isFloat {
		if strings.IndexByte("xXo", c) >= 0 {
			return "", typeError("%%%c format: an integer is required, not %s", c, TypeName(v))
		}
		t, err := ToInt(n.f)
		if err != nil {
			return "", err
		}
		m, _ := numberOf(t)
		b = m.big()
	}
	if s.precision >= 0 {
		digits := new(big.Int).Abs(b).Text(10)
		zeros, err := Pad(p.w, "0", min(s.precision, maxPrecision)-int64(len(digits)))
		if err != nil {
			return "", err
		}
		return s.pad(p.w, s.signOf(b.Sign() < 0), zeros+digits)
	}
	s.kind = c
	if c == 'i' || c == 'u' {
		s.kind = 'd'
	}
	return formatInt(p.w, b, s)
}
