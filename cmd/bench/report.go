package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is a finished run.
type Report struct {
	Machine    string    `json:"machine"`
	When       time.Time `json:"when"`
	Contenders []string  `json:"contenders"`
	Absent     []string  `json:"absent,omitempty"`
	Rows       []Line    `json:"rows"`
}

// Line is one row with the results of all contenders.
type Line struct {
	Key     string             `json:"key"`
	Title   string             `json:"title"`
	Unit    string             `json:"unit,omitempty"`
	Results map[string]Series  `json:"results"`
	Ratios  map[string]float64 `json:"ratios"` // how many times better brine is than each other contender
	Target  string             `json:"target,omitempty"`
	Met     *bool              `json:"met,omitempty"` // nil: no target, or brine was not measured
}

const ours = "brine"

func (r *recorder) report(contenders []contender, absent []string) *Report {
	rep := &Report{Machine: machine(), When: time.Now(), Absent: absent}
	for _, c := range contenders {
		rep.Contenders = append(rep.Contenders, c.name)
	}
	for _, row := range rows() {
		if r.wants(row.Key) {
			rep.Rows = append(rep.Rows, r.line(row, rep.Contenders))
		}
	}
	return rep
}

func (r *recorder) line(row Row, who []string) Line {
	l := Line{Key: row.Key, Title: row.Title, Unit: row.Unit, Results: map[string]Series{},
		Ratios: map[string]float64{}}
	for _, name := range who {
		l.Results[name] = r.series(row.Key, name)
	}
	mine := l.Results[ours]
	for name, s := range l.Results {
		if name == ours || s.N == 0 || mine.N == 0 || mine.P50 == 0 || s.P50 == 0 {
			continue
		}
		if l.Ratios[name] = s.P50 / mine.P50; row.higher == higher {
			l.Ratios[name] = mine.P50 / s.P50
		}
	}
	l.judge(row, mine)
	return l
}

// judge compares the median with the target.
func (l *Line) judge(row Row, mine Series) {
	if row.noGoal {
		return
	}
	limit := row.Limit
	if l.Target = row.target(limit); row.Times {
		best := 0.0
		for name, s := range l.Results {
			if name != ours {
				best = max(best, s.P50)
			}
		}
		l.Target = fmt.Sprintf(">= %g times", row.Limit)
		if limit *= best; best == 0 {
			return
		}
	}
	if mine.N == 0 {
		return
	}
	met := mine.P50 <= limit
	if row.higher == higher {
		met = mine.P50 >= limit
	}
	if row.Key == rowMissing { // one missing return is too many
		met = mine.Max <= limit
	}
	l.Met = &met
}

func (row Row) target(limit float64) string {
	sign := "<="
	if row.higher == higher {
		sign = ">="
	}
	return strings.TrimSpace(fmt.Sprintf("%s %g %s", sign, limit, row.Unit))
}

// WriteTable prints the report for people.
func (rep *Report) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s. Each cell: median (smallest..greatest, number of samples).\n", rep.Machine,
		rep.When.Format("2006-01-02 15:04"))
	for _, a := range rep.Absent {
		fmt.Fprintf(w, "%s: left out.\n", a)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := []string{"row", "what", "unit"}
	head = append(head, rep.Contenders...)
	fmt.Fprintln(t, strings.Join(append(head, "times better", "target", "met"), "\t"))
	for _, l := range rep.Rows {
		cells := []string{l.Key, l.Title, l.Unit}
		for _, name := range rep.Contenders {
			cells = append(cells, l.Results[name].cell())
		}
		fmt.Fprintln(t, strings.Join(append(cells, l.ratios(rep.Contenders), l.Target, l.verdict()), "\t"))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	rep.writeNotes(w)
	return nil
}

// writeNotes says why cells are empty.
func (rep *Report) writeNotes(w io.Writer) {
	seen := map[string]bool{}
	for _, l := range rep.Rows {
		for _, name := range rep.Contenders {
			if note := l.Results[name].Note; note != "" && !seen[name+note] {
				seen[name+note] = true
				fmt.Fprintf(w, "\n%s, %s and perhaps more: %s\n", name, l.Key, note)
			}
		}
	}
}

// WriteJSON prints the report for programs.
func (rep *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(rep); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (s Series) cell() string {
	switch s.N {
	case 0:
		return "-"
	case 1:
		return number(s.P50)
	}
	return fmt.Sprintf("%s (%s..%s, %d)", number(s.P50), number(s.Min), number(s.Max), s.N)
}

// number writes at least three digits, and all digits before the point.
func number(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func (l Line) ratios(who []string) string {
	var out []string
	for _, name := range who {
		if v, ok := l.Ratios[name]; ok {
			out = append(out, number(v))
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " / ")
}

func (l Line) verdict() string {
	switch {
	case l.Met == nil:
		return "-"
	case *l.Met:
		return "yes"
	}
	return "NO"
}

// machine describes the machine.
func machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				cpu = strings.TrimSpace(strings.TrimLeft(name, "\t :"))
				break
			}
		}
	}
	load := ""
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = ", load average " + strings.Join(strings.Fields(string(b))[:3], " ")
	}
	return fmt.Sprintf("%d x %s%s", numCPU(), cpu, load)
}
