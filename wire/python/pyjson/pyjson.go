// Package pyjson reads JSON as Python's json module does, with the order of keys, NaN and Infinity, and its words for
// what is wrong. Writing JSON is not done here (see modules/outputters). It answers to json/decoder.py of Python 3.11.
package pyjson

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"brine/wire/payload"
)

// Error is a JSONDecodeError.
type Error struct {
	Problem                string
	Line, Column, Position int // the position counts from 0, in characters
}

// Error is str() of the exception.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: line %d column %d (char %d)", e.Problem, e.Line, e.Column, e.Position)
}

// DepthError is the RecursionError of a text whose values lie too deep in each other.
type DepthError struct{ Kind string }

func (e *DepthError) Error() string {
	return "maximum recursion depth exceeded while decoding a JSON " + e.Kind + " from a unicode string"
}

// maxDepth is about where Python gives up.
const maxDepth = 950

// Load reads one JSON value: nil, bool, int64, uint64, *big.Int, float64, string, []any, *payload.Map. Its errors are
// *Error and *DepthError. Half a surrogate pair becomes U+FFFD.
func Load(text string) (any, error) { return LoadWithin(text, nil) }

// mapWeighs is how many values an object counts for.
const mapWeighs = 5

// LoadWithin is Load of a text of which not all may be worth reading: spend is asked before each value, of which an
// object counts for some. Its error ends the reading, and is the one that is returned.
func LoadWithin(text string, spend func(values int) error) (any, error) {
	d := &decoder{text: text, spend: spend}
	if strings.HasPrefix(text, "\ufeff") {
		return nil, d.fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0)
	}
	d.blanks()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if d.blanks(); d.pos < len(text) {
		return nil, d.fail("Extra data", d.pos)
	}
	return v, nil
}

type decoder struct {
	text  string
	pos   int                    // in bytes
	spend func(values int) error // nil: values are free
}

// afford asks whether the next value may be read.
func (d *decoder) afford() error {
	switch {
	case d.spend == nil:
		return nil
	case d.next('{'):
		return d.spend(mapWeighs)
	}
	return d.spend(1)
}

func (d *decoder) fail(problem string, at int) error {
	at = min(at, len(d.text))
	before := d.text[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &Error{Problem: problem, Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(line) + 1,
		Position: utf8.RuneCountInString(before)}
}

func (d *decoder) blanks() {
	for d.pos < len(d.text) && strings.IndexByte(" \t\n\r", d.text[d.pos]) >= 0 {
		d.pos++
	}
}

// next says whether c comes next.
func (d *decoder) next(c byte) bool { return d.pos < len(d.text) && d.text[d.pos] == c }

var words = []struct {
	text  string
	value any
}{{"null", nil}, {"true", true}, {"false", false}, {"NaN", math.NaN()}, {"Infinity", math.Inf(1)},
	{"-Infinity", math.Inf(-1)}}

func (d *decoder) value(depth int) (any, error) {
	if err := d.afford(); err != nil {
		return nil, err
	}
	switch {
	case d.next('"'):
		return d.str()
	case d.next('{'):
		if depth >= maxDepth {
			return nil, &DepthError{"object"}
		}
		return d.object(depth + 1)
	case d.next('['):
		if depth >= maxDepth {
			return nil, &DepthError{"array"}
		}
		return d.array(depth + 1)
	}
	for _, w := range words {
		if strings.HasPrefix(d.text[d.pos:], w.text) {
			d.pos += len(w.text)
			return w.value, nil
		}
	}
	return d.number()
}

func (d *decoder) object(depth int) (any, error) {
	const noName = "Expecting property name enclosed in double quotes"
	out := payload.NewMap(0)
	d.pos++
	d.blanks()
	if d.next('}') {
		d.pos++
		return out, nil
	}
	for {
		if !d.next('"') {
			return nil, d.fail(noName, d.pos)
		}
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		if d.blanks(); !d.next(':') {
			return nil, d.fail("Expecting ':' delimiter", d.pos)
		}
		d.pos++
		d.blanks()
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		out.Set(key, v)
		if done, err := d.more('}'); done || err != nil {
			return out, err
		}
	}
}

func (d *decoder) array(depth int) (any, error) {
	out := []any{}
	d.pos++
	d.blanks()
	if d.next(']') {
		d.pos++
		return out, nil
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if done, err := d.more(']'); done || err != nil {
			return out, err
		}
	}
}

// more goes over a comma, or says that the collection has ended.
func (d *decoder) more(end byte) (done bool, err error) {
	d.blanks()
	switch {
	case d.next(end):
		d.pos++
		return true, nil
	case !d.next(','):
		return false, d.fail("Expecting ',' delimiter", d.pos)
	}
	d.pos++
	d.blanks()
	return false, nil
}

func (d *decoder) digits() bool {
	from := d.pos
	for d.pos < len(d.text) && d.text[d.pos] >= '0' && d.text[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > from
}

func (d *decoder) number() (any, error) {
	from := d.pos
	if d.next('-') {
		d.pos++
	}
	if d.next('0') {
		d.pos++
	} else if !d.digits() {
		d.pos = from
		return nil, d.fail("Expecting value", from)
	}
	whole := d.pos
	if d.next('.') {
		if d.pos++; !d.digits() {
			d.pos = whole
		}
	}
	if end := d.pos; d.next('e') || d.next('E') {
		d.pos++
		if d.next('+') || d.next('-') {
			d.pos++
		}
		if !d.digits() {
			d.pos = end
		}
	}
	text := d.text[from:d.pos]
	if d.pos == whole {
		return integer(text)
	}
	f, _ := strconv.ParseFloat(text, 64) // too large is infinite, as in Python
	return f, nil
}

// maxDigits is Python's limit for whole numbers.
const maxDigits = 4300

func integer(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, nil
	}
	if n := len(strings.TrimPrefix(text, "-")); n > maxDigits {
		return nil, &LimitError{n}
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n, nil
}

// LimitError is the ValueError of a whole number with too many digits.
type LimitError struct{ Digits int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("Exceeds the limit (%d digits) for integer string conversion: value has %d digits; "+
		"use sys.set_int_max_str_digits() to increase the limit", maxDigits, e.Digits)
}

// str reads a text in quotes.
func (d *decoder) str() (string, error) {
	begin := d.pos
	unterminated := func() error { return d.fail("Unterminated string starting at", begin) }
	d.pos++
	var out strings.Builder
	for {
		from := d.pos
		for d.pos < len(d.text) && d.text[d.pos] != '"' && d.text[d.pos] != '\\' {
			if d.text[d.pos] < ' ' {
				return "", d.fail("Invalid control character at", d.pos)
			}
			d.pos++
		}
		if d.pos == len(d.text) {
			return "", unterminated()
		}
		if d.next('"') {
			d.pos++
			if out.Len() == 0 {
				return d.text[from : d.pos-1], nil
			}
			out.WriteString(d.text[from : d.pos-1])
			return out.String(), nil
		}
		out.WriteString(d.text[from:d.pos])
		if d.pos+1 == len(d.text) {
			return "", unterminated()
		}
		r, err := d.escape()
		if err != nil {
			return "", err
		}
		out.WriteRune(r)
	}
}

// escape reads what begins with a backslash.
func (d *decoder) escape() (rune, error) {
	const signs, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	at := d.pos
	c := d.text[at+1]
	if c != 'u' {
		i := strings.IndexByte(signs, c)
		if i < 0 {
			return 0, d.fail(`Invalid \escape`, at)
		}
		d.pos += 2
		return rune(values[i]), nil
	}
	r, ok := d.hex(at + 2)
	if !ok {
		return 0, d.fail(`Invalid \uXXXX escape`, at+1)
	}
	d.pos = at + 6
	if utf16.IsSurrogate(r) && strings.HasPrefix(d.text[d.pos:], `\u`) && d.pos+6 < len(d.text) {
		low, ok := d.hex(d.pos + 2)
		if !ok {
			return 0, d.fail(`Invalid \uXXXX escape`, d.pos+1)
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			d.pos += 6
			return pair, nil
		}
	}
	return r, nil
}

// hex reads four digits, behind which the text must go on.
func (d *decoder) hex(at int) (rune, bool) {
	if at+4 >= len(d.text) {
		return 0, false
	}
	for _, c := range []byte(d.text[at : at+4]) {
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(d.text[at:at+4], 16, 32)
	return rune(n), err == nil
}
