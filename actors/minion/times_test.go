package minion

import (
	"testing"
	"time"

	"brine/actors/minion/link"
	"brine/config"
)

// TestReload: links that are there already wait as long as the new configuration says.
func TestReload(t *testing.T) {
	cfg := &config.Minion{ReturnRetryTimer: 3 * time.Second, ReturnRetryTimerMax: 3 * time.Second, AuthTries: 1}
	m := &Minion{times: &link.LatestTimes{}}
	m.Reload(cfg)
	l := link.New(link.Options{Times: m.times})
	if got := l.ReturnTimeout(); got != 3*time.Second {
		t.Fatalf("before: %v", got)
	}
	m.Reload(&config.Minion{ReturnRetryTimer: 9 * time.Second, ReturnRetryTimerMax: 9 * time.Second, AuthTries: 4})
	if got := l.ReturnTimeout(); got != 9*time.Second || l.Times().AuthTries != 4 {
		t.Errorf("after: %v, %d tries", got, l.Times().AuthTries)
	}
}
