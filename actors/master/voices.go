package master

import (
	"log/slog"
	"sync"

	"brine/config"
	"brine/modules/fleet/speakers"
	"brine/modules/matchers"
)

// voices knows as what the ids of minions may speak: as a minion or a syndic, and with which version of the protocol.
type voices struct {
	roles   *speakers.Roles
	below   bool     // order_masters: there may be syndics
	syndics []string // patterns of those that are; none: the first word of an id decides
	minimum int      // minimum_auth_version
	modern  sync.Map // ids that have spoken version 3, where others may speak
	log     *slog.Logger
}

func newVoices(cfg *config.Master, st *stores, log *slog.Logger) *voices {
	return &voices{roles: &speakers.Roles{Keys: st.keys, Cache: st.cache, SyndicDir: cfg.SyndicDir},
		below: cfg.OrderMasters, syndics: cfg.Syndics, minimum: cfg.MinimumAuthVersion, log: log}
}

// asSyndic tells whether an id may speak as a syndic. Where the configuration does not say who is one, the first word of an id
// decides for as long as it has its key: a minion that was taken over does not become one.
func (v *voices) asSyndic(id string) bool {
	switch {
	case !v.below:
		return false
	case len(v.syndics) > 0:
		for _, pattern := range v.syndics {
			if matchers.GlobMatch(pattern, id) {
				return true
			}
		}
		return false
	}
	return v.shown(id, func(s *speakers.Spoken) {
		if s.Role == "" {
			s.Role = speakers.RoleSyndic
			v.log.Info("a minion is taken for a syndic from now on, for that is how it speaks first", "minion", id)
		}
	}).Role == speakers.RoleSyndic
}

// asMinion notes that an id speaks as a minion.
func (v *voices) asMinion(id string) {
	if v.below && len(v.syndics) == 0 {
		v.shown(id, func(s *speakers.Spoken) {
			if s.Role == "" {
				s.Role = speakers.RoleMinion
			}
		})
	}
}

// proves notes an authentic request of version 3: from then on nothing that proves nothing counts in the name of that id.
func (v *voices) proves(id string) {
	if v.minimum >= 3 {
		return
	}
	if _, known := v.modern.Load(id); known {
		return
	}
	if v.shown(id, func(s *speakers.Spoken) { s.V3 = true }).V3 {
		v.modern.Store(id, true)
	}
}

// shown notes what an id shows of itself.
func (v *voices) shown(id string, change func(*speakers.Spoken)) speakers.Spoken {
	s, err := v.roles.Note(id, change)
	if err != nil {
		v.log.Error("what a minion is could not be kept", "minion", id, "err", err)
	}
	return s
}
