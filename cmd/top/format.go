package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"brine/supervisor/stats"
)

// none is shown in place of a missing value.
const none = "-"

// span writes a duration in at most five cells: 12s, 3m20s, 3h12m, 12d3h, 240d.
func span(d time.Duration) string {
	d = max(d, 0)
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 10*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d < day:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 100*day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	}
	return strconv.Itoa(int(d/day)) + "d"
}

// Span writes a duration in at most five cells.
func Span(d time.Duration) string { return span(d) }

// Bytes writes a size in at most seven cells.
func Bytes(n int64) string {
	f := float64(n)
	for _, unit := range []string{" B", " kB", " MB", " GB"} {
		if f < 999.5 || unit == " GB" {
			if f < 99.95 && unit != " B" {
				return strconv.FormatFloat(f, 'f', 1, 64) + unit
			}
			return strconv.FormatFloat(f, 'f', 0, 64) + unit
		}
		f /= 1000
	}
	return ""
}

// since writes the time from t to now. It is none if t is zero.
func since(t, now time.Time) string {
	if t.IsZero() {
		return none
	}
	return span(now.Sub(t))
}

// short writes a short duration in at most six cells: 850ns, 131µs, 2.1ms, 34ms, 1.2s, 3m20s.
func short(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return strconv.Itoa(int(d)) + "ns"
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.1fµs", float64(d)/1e3)
	case d < time.Millisecond:
		return strconv.Itoa(int(d/time.Microsecond)) + "µs"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/1e6)
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + "ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return span(d)
}

func micros(us int64) string { return short(time.Duration(us) * time.Microsecond) }
func millis(ms int64) string { return short(time.Duration(ms) * time.Millisecond) }

// count writes a number in at most five cells: 9999, 12.3k, 123k, 1.2M.
func count[T int | int64 | uint64](n T) string {
	if n < 10_000 {
		return strconv.FormatInt(int64(n), 10)
	}
	return big(float64(n))
}

// perSecond writes a rate in at most five cells: 0, 0.3, 12, 1204, 12.3k.
func perSecond(r float64) string {
	switch {
	case r < 0.05:
		return "0"
	case r < 9.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	case r < 9999.5:
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return big(r)
}

func big(f float64) string {
	for _, unit := range []string{"k", "M", "G", "T", "P"} {
		f /= 1000
		switch {
		case f < 99.95:
			return strconv.FormatFloat(f, 'f', 1, 64) + unit
		case f < 999.5:
			return strconv.FormatFloat(f, 'f', 0, 64) + unit
		}
	}
	return "many"
}

// percent writes a share from 0 to 1 in at most five cells: 0%, 0.4%, 38%, 100%.
func percent(share float64) string {
	if share >= 0.0005 && share < 0.0995 {
		return strconv.FormatFloat(share*100, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64) + "%"
}

// bar draws a share from 0 to 1 as a bar of width cells, in eighths.
func bar(share float64, width int) string {
	eighths := int(min(max(share, 0), 1)*float64(width)*8 + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	b := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		b += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return b
}

// spark draws the last width values as a line of blocks. The highest value is a full block.
func spark(values []float64, width int) string {
	values = values[max(0, len(values)-width):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", width-len(values)))
	for _, v := range values {
		level := 0
		if top > 0 && v > 0 {
			level = max(1, int(v/top*8+0.5))
		}
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[level])
	}
	return b.String()
}

// Since writes the time since a stamp in the format of stats.Stamp, or "-" without one.
func Since(stamp string, now time.Time) string {
	t, err := time.Parse(stats.StampForm, stamp)
	if err != nil {
		return none
	}
	return since(t, now)
}

// Clean makes a foreign text safe for one line of a terminal.
func Clean(text string) string { return clean(text) }

// clean makes a foreign text safe for one line of a terminal: no control characters, no line ends.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }), " ")
}

// fit cuts a text to width cells and marks the cut, or fills it up with spaces.
func fit(text string, width int, right bool) string {
	n := utf8.RuneCountInString(text)
	switch {
	case n > width && width > 0:
		return string([]rune(text)[:width-1]) + "…"
	case n > width:
		return ""
	case right:
		return strings.Repeat(" ", width-n) + text
	}
	return text + strings.Repeat(" ", width-n)
}
