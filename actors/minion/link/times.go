package link

import (
	"sync/atomic"
	"time"
)

// Times say how long the minion waits for a master and how often it asks. They are what a reload of the configuration
// replaces: a value never changes, and who needs several of them takes it once.
type Times struct {
	AuthTimeout           time.Duration
	AuthTries             int
	ReturnRetryTimer      time.Duration
	ReturnRetryTimerMax   time.Duration
	ReturnRetryTries      int
	RequestChannelTimeout time.Duration
	RequestChannelTries   int
}

// LatestTimes are the times in force, shared by the minion and all its links.
type LatestTimes struct{ atomic.Pointer[Times] }
