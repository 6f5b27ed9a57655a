package minion

import (
	"sync/atomic"
	"time"

	"brine/config"
)

// times say how long the minion waits for a master and how often it asks. They are what a reload of the configuration
// replaces: a value never changes, and who needs several of them takes it once.
type times struct {
	authTimeout           time.Duration
	authTries             int
	returnRetryTimer      time.Duration
	returnRetryTimerMax   time.Duration
	returnRetryTries      int
	requestChannelTimeout time.Duration
	requestChannelTries   int
}

// latestTimes are the times in force, shared by the minion and all its links.
type latestTimes struct{ atomic.Pointer[times] }

func newTimes(cfg *config.Minion) *latestTimes {
	l := &latestTimes{}
	l.set(cfg)
	return l
}

func (l *latestTimes) set(cfg *config.Minion) {
	l.Store(&times{
		authTimeout: cfg.AuthTimeout, authTries: cfg.AuthTries,
		returnRetryTimer: cfg.ReturnRetryTimer, returnRetryTimerMax: cfg.ReturnRetryTimerMax,
		returnRetryTries: cfg.ReturnRetryTries, requestChannelTimeout: cfg.RequestChannelTimeout,
		requestChannelTries: cfg.RequestChannelTries,
	})
}

// Reload puts the times of a new configuration in force, for what begins from now on. What else the configuration says
// is not looked at. It may be called from outside of the actors.
func (m *Minion) Reload(cfg *config.Minion) { m.times.set(cfg) }
