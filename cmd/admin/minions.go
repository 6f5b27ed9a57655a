package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/wire/control"
	"brine/wire/payload"
)

// Minions shows the minions of a master.
func Minions(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		words: " [GLOB]", most: 1, master: true, want: "Takes one pattern of ids at most", watch: true,
		description: "Show the minions of a running master: keys, connections, when they were last heard, their " +
			"last jobs.",
		options: []optparse.Option{{Flags: []string{"--down"}, Kind: optparse.Flag, Dest: "only_down",
			Help: "Show only minions whose key is accepted and that are not connected."}},
	})
	if err != nil {
		return err
	}
	return a.show(func() (answer, error) {
		m, err := askMap(a, control.GetRoster{Glob: strings.Join(a.Opt.Args, "")})
		if err != nil {
			return answer{}, err
		}
		if a.Opt.Bool("only_down") {
			m.Set("minions", onlyDown(m.List("minions")))
		}
		return answer{value: m, text: func() string { return rosterText(m, time.Now()) }}, nil
	})
}

// onlyDown returns the accepted minions that are not connected.
func onlyDown(minions []any) []any {
	out := []any{}
	for _, v := range minions {
		if m, ok := v.(*payload.Map); ok && m.Str("key") == "accepted" && m.Str("connected") == "no" {
			out = append(out, v)
		}
	}
	return out
}

// rosterText gives a line for each minion, and the sums.
func rosterText(m *payload.Map, now time.Time) string {
	var b strings.Builder
	if minions := m.List("minions"); len(minions) > 0 {
		titles, refused := []string{"MINION", "KEY", "CONNECTED", "SPEAKS", "LAST HEARD", "LAST JOB"},
			slices.ContainsFunc(minions, wasRefused)
		if refused {
			titles = append(titles, "REFUSED")
		}
		t := newTable(titles...)
		for _, v := range minions {
			row, _ := v.(*payload.Map)
			cells := []string{row.Str("id"), row.Str("key"), connectedText(row), speaksText(row),
				agoText(row.Str("heard"), now), lastJobText(row.Map("last_job"), now)}
			if refused {
				cells = append(cells, refusedText(row.Map("refused")))
			}
			t.add(cells...)
		}
		b.WriteString(t.String() + "\n")
	}
	n := m.Map("counts")
	fmt.Fprintf(&b, "keys: %d accepted, %d pending, %d rejected, %d denied; connected: %d yes, %d no, %d unknown\n",
		intOf(n, "accepted"), intOf(n, "pending"), intOf(n, "rejected"), intOf(n, "denied"), intOf(n, "connected_yes"),
		intOf(n, "connected_no"), intOf(n, "connected_unknown"))
	if !m.Bool("whole") {
		b.WriteString("The addresses of some minions are not read yet: ask again.\n")
	}
	return b.String()
}

// wasRefused tells whether a row counts refused requests of its minion.
func wasRefused(v any) bool {
	row, _ := v.(*payload.Map)
	return row.Map("refused").Len() > 0
}

// refusedText says which requests of a minion were refused, and how often.
func refusedText(m *payload.Map) string {
	var parts []string
	for what, n := range m.All() {
		parts = append(parts, fmt.Sprintf("%v %v", what, n))
	}
	return strings.Join(parts, ", ")
}

// connectedText adds the guess from network addresses, which the answer holds where nothing better is known.
func connectedText(row *payload.Map) string {
	text := row.Str("connected")
	if guess := row.Str("by_address"); guess == "yes" || guess == "no" {
		text += " (by address: " + guess + ")"
	}
	return text
}

// speaksText gives the version of the protocol and, if it is known, the program that speaks it.
func speaksText(row *payload.Map) string {
	v, ok := row.Int("protocol")
	switch {
	case !ok:
		return "-"
	case row.Bool("brine"):
		return fmt.Sprintf("%d, brine", v)
	}
	return fmt.Sprint(v)
}

func agoText(stamp string, now time.Time) string {
	text := top.Since(stamp, now)
	if text != "-" {
		text += " ago"
	}
	return text
}

func lastJobText(job *payload.Map, now time.Time) string {
	if job == nil {
		return "-"
	}
	return fmt.Sprintf("%s %s, %s", job.Str("jid"), job.Str("fun"), agoText(job.Str("time"), now))
}
