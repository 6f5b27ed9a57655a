package master

import (
	"brine/modules/fleet/speakers"
	"brine/modules/matchers"
)

// asSyndic tells whether an id may speak as a syndic. Where the configuration does not say who is one, the first word of an id
// decides for as long as it has its key: a minion that was taken over does not become one.
func (c *core) asSyndic(id string) bool {
	switch {
	case !c.cfg.OrderMasters:
		return false
	case len(c.cfg.Syndics) > 0:
		for _, pattern := range c.cfg.Syndics {
			if matchers.GlobMatch(pattern, id) {
				return true
			}
		}
		return false
	}
	return c.shown(id, func(s *speakers.Spoken) {
		if s.Role == "" {
			s.Role = speakers.RoleSyndic
			c.log.Info("a minion is taken for a syndic from now on, for that is how it speaks first", "minion", id)
		}
	}).Role == speakers.RoleSyndic
}

// asMinion notes that an id speaks as a minion.
func (c *core) asMinion(id string) {
	if c.cfg.OrderMasters && len(c.cfg.Syndics) == 0 {
		c.shown(id, func(s *speakers.Spoken) {
			if s.Role == "" {
				s.Role = speakers.RoleMinion
			}
		})
	}
}

// proves notes an authentic request of version 3: from then on nothing that proves nothing counts in the name of that id.
func (c *core) proves(id string) {
	if c.cfg.MinimumAuthVersion >= 3 {
		return
	}
	if _, known := c.modern.Load(id); known {
		return
	}
	if c.shown(id, func(s *speakers.Spoken) { s.V3 = true }).V3 {
		c.modern.Store(id, true)
	}
}

// shown notes what an id shows of itself.
func (c *core) shown(id string, change func(*speakers.Spoken)) speakers.Spoken {
	s, err := c.roles.Note(id, change)
	if err != nil {
		c.log.Error("what a minion is could not be kept", "minion", id, "err", err)
	}
	return s
}
