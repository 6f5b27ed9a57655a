package loader

import (
	"strings"

	"brine/wire/python"
)

const blackoutText = "Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to resume " +
	"operations. " +
	"Only saltutil.refresh_pillar allowed in blackout mode."

// BlackedOut tells the return of a function that was not called because the minion is in blackout.
func BlackedOut(ret any) bool {
	text, _ := ret.(string)
	return strings.HasSuffix(text, blackoutText)
}

// blackedOut tells whether pillar (only with a master) or grains forbid this function now.
func blackedOut(c *Call, connected bool, fun string) bool {
	if fun == "saltutil.refresh_pillar" {
		return false
	}
	if pillar := c.Pillar(); connected && python.Truth(pillar.Value("minion_blackout")) &&
		!listed(pillar.Value("minion_blackout_whitelist"), fun) {
		return true
	}
	on, _ := c.Grain("minion_blackout")
	if !python.Truth(on) {
		return false
	}
	allowed, _ := c.Grain("minion_blackout_whitelist")
	return !listed(allowed, fun)
}

func listed(list any, name string) bool {
	names, _ := list.([]any)
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
