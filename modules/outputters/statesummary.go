package outputters

import (
	"fmt"
	"strconv"
	"strings"

	"brine/wire/python"
)

// terse shows one state on one line.
func (b *hostBlock) terse(e *stateEntry) error {
	word := "Clean"
	if python.Truth(e.ret.Value("changes")) {
		word = "Changed"
	}
	switch e.result {
	case false:
		word = "Failed"
	case nil:
		word = "Differs"
	}
	warnings, warned, err := warningText(e.ret)
	if err != nil {
		return err
	}
	c, end := b.o.color(e.color), b.o.color(endColor)
	head := ""
	if warned {
		head = b.o.color(lightRed) + "Warnings:\n" + warnings + end
	}
	start, timed := e.ret.Get("start_time")
	timed = timed && !b.o.State.NoProfile
	if b.o.State.Tabular == any(true) {
		b.lines = append(b.lines, tabular(e, head, c, end, word, start, timed))
		return nil
	}
	line := fmt.Sprintf("%s %s Name: %s - Function: %s.%s - Result: %s", head, c, e.name, e.module, e.fun, word)
	if timed {
		line += fmt.Sprintf(" - Started: %s - Duration: %s ms", str(start), str(e.ret.Value("duration")))
	}
	b.lines = append(b.lines, line+end)
	return nil
}

// tabular is the terse line of state_tabular: True.
func tabular(e *stateEntry, head, c, end, word string, start any, timed bool) string {
	if head != "" {
		head += "\n"
	}
	line := head + c
	if timed {
		line += fmt.Sprintf("%s [%7s ms] ", str(start), str(e.ret.Value("duration")))
	}
	return line + fmt.Sprintf("%10s.%-10s %-7s   Name: %s", e.module, e.fun, word, e.name) + end
}

// summary shows the counts of a host.
func (b *hostBlock) summary(host string) {
	total, digits := b.counts.total()
	const longestLabel = len("Succeeded")
	width := longestLabel + digits + 2
	b.paintLine(cyan, "\nSummary for "+host+"\n"+strings.Repeat("-", width), "")
	count := func(label, n string) string { return fmt.Sprintf("%s: %*s", label, width-len(label)-2, n) }
	b.paintLine(green, count("Succeeded", fmt.Sprint(b.counts.ok+b.counts.none)), b.changeCounts())
	failColor := cyan
	if b.counts.failed > 0 {
		failColor = red
	}
	b.paintLine(failColor, count("Failed", fmt.Sprint(b.counts.failed)), "")
	if b.o.State.Percent && total > 0 {
		b.paintLine(green, count("Success %", percent(b.counts.ok+b.counts.none, total)), "")
		b.paintLine(failColor, count("Failure %", percent(b.counts.failed, total)), "")
	}
	if b.counts.warnings > 0 {
		b.paintLine(lightRed, count("Warnings", fmt.Sprint(b.counts.warnings)), "")
	}
	b.paintLine(cyan, fmt.Sprintf("%s\nTotal states run: %*d", strings.Repeat("-", width), width-7, total), "")
	if b.o.State.NoProfile {
		return
	}
	sum, unit := b.serial+b.longest, "ms"
	if sum > 999 {
		sum, unit = sum/1000, "s"
	}
	b.paintLine(cyan, fmt.Sprintf("Total run time: %*.3f %s", width-5, sum, unit), "")
}

func (b *hostBlock) paintLine(color, text, behind string) {
	b.lines = append(b.lines, b.o.color(color)+text+b.o.color(endColor)+behind)
}

// changeCounts is " (unchanged=1, changed=2)", or nothing.
func (b *hostBlock) changeCounts() string {
	var parts []string
	if b.counts.none > 0 {
		parts = append(parts, b.o.line(0, lightYellow, "", fmt.Sprintf("unchanged=%d", b.counts.none), ""))
	}
	if b.changes > 0 {
		parts = append(parts, b.o.line(0, green, "", fmt.Sprintf("changed=%d", b.changes), ""))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func percent(n, of int) string {
	const whole = 100
	f, err := strconv.ParseFloat(strconv.FormatFloat(float64(n)/float64(of)*whole, 'f', 2, 64), 64)
	if err != nil {
		return ""
	}
	return python.Float(f)
}
