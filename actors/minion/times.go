package minion

import (
	"brine/actors/minion/link"
	"brine/config"
)

// timesOf are the times of a configuration.
func timesOf(cfg *config.Minion) *link.Times {
	return &link.Times{
		AuthTimeout: cfg.AuthTimeout, AuthTries: cfg.AuthTries,
		ReturnRetryTimer: cfg.ReturnRetryTimer, ReturnRetryTimerMax: cfg.ReturnRetryTimerMax,
		ReturnRetryTries: cfg.ReturnRetryTries, RequestChannelTimeout: cfg.RequestChannelTimeout,
		RequestChannelTries: cfg.RequestChannelTries,
	}
}

// Reload puts the times of a new configuration in force, for what begins from now on. What else the configuration says
// is not looked at. It may be called from outside of the actors.
func (m *Minion) Reload(cfg *config.Minion) { m.times.Store(timesOf(cfg)) }
