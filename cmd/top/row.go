package top

import (
	"strings"
	"time"

	"brine/supervisor/stats"
)

// row is one actor in the list, with values computed from two looks.
type row struct {
	stats.Child
	key    string  // path, unique on the screen
	tree   string  // lines of the tree before the name
	root   bool    // a daemon, not an actor
	rate   float64 // messages per second since the last look
	share  float64 // busy share of the time since the last look
	trend  *trend
	parent *row
}

// trend holds the recent activity of an actor.
type trend struct {
	rates, shares []float64
	seen          int // number of the last look with the actor
}

// trendLength is the number of looks in a trend.
const trendLength = 120

func (t *trend) add(rate, share float64, look int) {
	t.rates, t.shares, t.seen = last(append(t.rates, rate)), last(append(t.shares, share)), look
}

func last(v []float64) []float64 {
	if len(v) > 2*trendLength {
		return append(v[:0:0], v[len(v)-trendLength:]...)
	}
	return v
}

// rows lists the actors of a look in tree order.
func rows(look *Look) []*row {
	var list []*row
	for _, r := range look.Roots {
		list = addRows(list, r, nil, "", "")
	}
	return list
}

func addRows(list []*row, c stats.Child, parent *row, own, below string) []*row {
	r := &row{Child: c, key: c.Path, tree: own, root: parent == nil, parent: parent, rate: c.Rate, share: c.Busy}
	list = append(list, r)
	for i, child := range c.Children {
		branch, rest := "├─ ", "│  "
		if i == len(c.Children)-1 {
			branch, rest = "└─ ", "   "
		}
		list = addRows(list, child, r, below+branch, below+rest)
	}
	return list
}

// compare computes the values between two looks.
func (r *row) compare(before *row, took time.Duration) {
	if before == nil || took <= 0 || r.Received < before.Received || r.BusyMS < before.BusyMS {
		return
	}
	r.rate = float64(r.Received-before.Received) / took.Seconds()
	r.share = min(float64(r.BusyMS-before.BusyMS)/float64(max(took.Milliseconds(), 1)), 1)
}

// idle tells whether nothing happens in this actor, and nothing went wrong lately.
func (r *row) idle() bool {
	return r.rate == 0 && r.Mailbox == 0 && r.InHand == "" && r.State == stats.StateRunning && r.LastDeath == nil
}

// matches tells whether the filter matches a text that the list shows of this actor. Upper and lower case are
// equal.
func (r *row) matches(filter string) bool {
	text := strings.ToLower(r.key + " " + r.State + " " + r.InHand + " " + r.Note)
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// flatName is the short form of a path in a flat list. It omits the daemon if there is only one.
func (r *row) flatName(single bool) string {
	if _, rest, ok := strings.Cut(r.key, "/"); ok && single {
		return rest
	}
	return r.key
}

// doing shows the message that the actor is handling, and the time if it is long.
func (r *row) doing() string {
	if r.InHand == "" {
		return ""
	}
	text := strings.TrimPrefix(r.InHand, "*")
	if r.InHandMS >= 1000 {
		text += " " + millis(r.InHandMS)
	}
	return text
}

// death shows the last death in one line.
func (r *row) death(now time.Time) string {
	if r.LastDeath == nil {
		return ""
	}
	return Death(*r.LastDeath, now)
}

// Death shows a death in one line: time, reason, message.
func Death(d stats.Death, now time.Time) string {
	text := since(d.Time, now) + " ago: " + clean(d.Reason)
	if d.Message != "" {
		text += " (on " + strings.TrimPrefix(d.Message, "*") + ")"
	}
	return text
}
