package minion

import (
	"strings"
	"testing"
	"time"

	"brine/supervisor/stats"
)

// TestStartOrder compares the tree of a minion with the order in which its children are to start.
func TestStartOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  bool
		want string
	}{
		{"plain", false, "EventBus Journal Refresher FileClient Jobs() Teller Dispatcher Scheduler " +
			"Master-a.test_4506(ReturnSender Subscriber Authenticator) Master-b.test_4506(ReturnSender Subscriber " +
			"Authenticator)"},
		{"with mine and pings", true, "EventBus Journal Refresher FileClient Jobs() Teller Dispatcher MineTimer " +
			"Scheduler " +
			"Master-a.test_4506(ReturnSender Subscriber Pinger Authenticator) Master-b.test_4506(ReturnSender " +
			"Subscriber Pinger Authenticator)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "", "a.test", "b.test")
			if tt.all {
				r.cfg.MineEnabled, r.cfg.MineInterval, r.cfg.PingInterval = true, time.Hour, time.Hour
			}
			if got := order(r.start().m.top.Snapshot()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// order is a tree as text.
func order(tree []stats.Child) string {
	var names []string
	for _, c := range tree {
		name := c.Name
		if name == "Jobs" || strings.HasPrefix(name, "Master-") {
			name += "(" + order(c.Children) + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
