package modules

import "brine/wire/payload"

const blackoutText = "Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to resume operations. " +
	"Only saltutil.refresh_pillar allowed in blackout mode."

// blackedOut tells whether pillar (only with a master) or grains forbid this function now.
func blackedOut(c *Call, connected bool, fun string) bool {
	return connected && forbids(c.Pillar(), fun) || forbids(c.Grains(), fun)
}

func forbids(m *payload.Map, fun string) bool {
	if !Truthy(m.Value("minion_blackout")) || fun == "saltutil.refresh_pillar" {
		return false
	}
	allowed, _ := m.Value("minion_blackout_whitelist").([]any)
	for _, name := range allowed {
		if name == fun {
			return false
		}
	}
	return true
}
