//go:build interop

package browser

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"brine/actors/netapi/console"
)

var gap = math.NaN() // a second without data

// line is the path for values, newest at the right, in a graph of 60 units. The highest value is at 2, zero at
// 19.
func line(values ...float64) string {
	top, out := 1e-9, ""
	for _, v := range values {
		if v > top {
			top = v
		}
	}
	missing := func(i int) bool { return i < 0 || i >= len(values) || math.IsNaN(values[i]) }
	for i, v := range values {
		if missing(i) {
			continue
		}
		at := fmt.Sprintf("%.1f %.1f", 60-float64(len(values)-i)+.5, 19-max(0, v)/top*17)
		switch {
		case !missing(i - 1):
			out += "L" + at
		case missing(i + 1):
			out += "M" + at + "h0"
		default:
			out += "M" + at
		}
	}
	return out
}

// graph is a drawn graph: its path, its hover text, and whether all of it is inside its frame and visible.
type graph struct {
	D, Title string
	Within   bool
}

func (s *stand) graph(selector string) graph {
	s.t.Helper()
	return js[graph](s.site, fmt.Sprintf(`(() => { const g = document.querySelector(%q), p = g.querySelector("path"), a = g.getBoundingClientRect(), b = p.getBoundingClientRect(), c = getComputedStyle(p);
		return { D: p.getAttribute("d"), Title: g.querySelector("title").textContent,
			Within: !p.getAttribute("d") || (b.left >= a.left - 1 && b.right <= a.right + 1 && b.top >= a.top - 1 && b.bottom <= a.bottom + 1 && c.fill === "none" && c.stroke !== "none" && parseFloat(c.strokeWidth) >= 1) } })()`, selector))
}

const rowGraph = "tr[data-key='master/A'] svg"

// draws compares the graph of the actor with the expected one.
func (s *stand) draws(what, title string, values ...float64) {
	s.t.Helper()
	if got, want := s.graph(rowGraph), (graph{line(values...), title, true}); got != want {
		s.t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// rate sets the rate of the actor, and waits until the page has it.
func (s *stand) rate(rate float64, more ...func(*console.Node)) {
	s.t.Helper()
	s.sent++
	n := console.Node{Path: "master/A", Name: "A", State: "running", Rate: rate, Inc: 1, Note: fmt.Sprintf("note-%d-",
		s.sent)}
	for _, f := range more {
		f(&n)
	}
	s.rows("actors", map[string]any{"master/A": n})
	s.sees(n.Note)
}

func (s *stand) tick(seconds int) { js[any](s.site, fmt.Sprintf("tick(%d)", seconds)) }

// TestGraph: the shape of the graph follows from the numbers. The test controls the seconds, and each takes one
// number.
func TestGraph(t *testing.T) {
	s := newStand(t, told)
	s.open(1280, 800)
	s.tickByHand()
	s.anew("#/actors", "actors")
	s.rate(5)
	s.draws("no number yet", "no messages counted yet")
	s.tick(1)
	s.draws("one number", "now 5.0 messages/s, at most 5.0 in the last second", 5)
	s.rate(20)
	s.tick(1)
	s.draws("two", "now 20 messages/s, at most 20 in the last 2 s", 5, 20)
	s.rate(0)
	s.tick(1)
	s.draws("back to nothing", "now 0 messages/s, at most 20 in the last 3 s", 5, 20, 0)

	s.rate(10, func(n *console.Node) { n.Inc, n.Restarts, n.DiedAt, n.DiedOf = 2, 1, "2026-11-23T16:00:00Z", "x" })
	s.tick(1)
	s.draws("a restart that begins to count anew", "now 10 messages/s, at most 20 in the last 4 s", 5, 20, 0, 10)
	s.rate(-3)
	s.tick(1)
	s.draws("a rate that cannot be", "now 0 messages/s, at most 20 in the last 5 s", 5, 20, 0, 10, -3)

	s.rate(10)
	s.tick(4) // the page slept for three of them
	s.draws("a page that slept", "now 10 messages/s, at most 20 in the last 9 s, of which 3 s are not known", 5, 20, 0,
		10, -3, gap, gap, gap, 10)
	s.send("note", console.Note{Table: "actors", Text: "The master does not answer."})
	s.sees("The master does not answer.")
	s.tick(1)
	s.draws("a master that does not answer", "not known now, at most 20 in the last 10 s, of which 4 s are not known",
		5, 20, 0, 10, -3, gap, gap, gap, 10, gap)
	s.send("note", console.Note{Table: "actors"})
	s.until("the note is gone", func() bool {
		return !strings.Contains(js[string](s.site, "document.body.innerText"), "does not answer")
	})
	s.tick(1)
	s.draws("a master that is back", "now 10 messages/s, at most 20 in the last 11 s, of which 4 s are not known", 5,
		20, 0, 10, -3, gap, gap, gap, 10, gap, 10)
	s.down.Store(true)
	s.send("", nil)
	s.sees("connection lost")
	s.tick(1)
	s.draws("a connection that is lost", "not known now, at most 20 in the last 12 s, of which 5 s are not known", 5,
		20, 0, 10, -3, gap, gap, gap, 10, gap, 10, gap)
	was := s.newest.Load()
	s.down.Store(false)
	s.until("the stream is there again", func() bool { return s.newest.Load() != was })
	s.live()

	// A graph holds one minute. The oldest values leave it.
	s.rate(7)
	for range 60 {
		s.tick(1)
	}
	full := make([]float64, 60)
	for i := range full {
		full[i] = 7
	}
	s.draws("a minute", "now 7.0 messages/s, at most 7.0 in the last 60 s", full...)
	s.rate(0)
	for range 60 {
		s.tick(1)
	}
	s.draws("nothing at all", "now 0 messages/s, at most 0 in the last 60 s", make([]float64, 60)...)
	s.rate(1)
	s.tick(1000)
	s.draws("a night", "now 1.0 messages/s, at most 1.0 in the last 60 s, of which 59 s are not known",
		append(slicesOf(gap, 59), 1)...)

	// The panel shows the same graph, larger, and a text for screen readers.
	s.click("tr[data-key='master/A'] button")
	s.until("the panel is open", s.panelIsOpen)
	s.rate(3)
	s.tick(1)
	row, wide := s.graph(rowGraph), s.graph("#panel svg.wide")
	if row != wide || row.D != line(append(slicesOf(gap, 58), 1, 3)...) {
		t.Errorf("the panel draws %+v, the row %+v", wide, row)
	}
	if words := js[string](s.site, "document.querySelector('#panel .words').innerText"); words != wide.Title {
		t.Errorf("the panel says %q, its graph %q", words, wide.Title)
	}
	js[any](s.site, "document.getElementById('panel').close()")

	// An actor that disappears and returns starts a new graph.
	s.rows("actors", map[string]any{"master/B": console.Node{Path: "master/B", Name: "B", State: "running", Order: 1}},
		"master/A")
	s.until("it is gone", func() bool { return !js[bool](s.site, "!!document.querySelector(\""+rowGraph+"\")") })
	s.tick(1)
	s.rate(4)
	s.tick(1)
	s.draws("one that came back", "now 4.0 messages/s, at most 4.0 in the last second", 4)
	if d := s.graph("tr[data-key='master/B'] svg").D; d != line(0, 0) {
		t.Errorf("of another one at rest there is drawn %q", d)
	}
}

func slicesOf(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}
