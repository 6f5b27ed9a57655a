package master

import (
	"log/slog"
	"sync"

	"brine/modules/fleet/speakers"
	"brine/wire/python/fnmatch"
)

// voiceOptions are what the configuration says of it.
type voiceOptions struct {
	syndicDir string   // where it is kept what an id has shown of itself
	below     bool     // order_masters: there may be syndics
	syndics   []string // globs of those that are; none: the first word of an id decides
	minimum   int      // minimum_auth_version
}

// voices knows as what the ids of minions may speak: as a minion or a syndic, and with which version of the protocol.
type voices struct {
	roles  *speakers.Roles
	opt    voiceOptions
	modern sync.Map // ids that have spoken version 3, where others may speak
	log    *slog.Logger
}

func newVoices(opt voiceOptions, st *stores, log *slog.Logger) *voices {
	return &voices{roles: &speakers.Roles{Keys: st.keys, Cache: st.cache, SyndicDir: opt.syndicDir}, opt: opt, log: log}
}

// asSyndic tells whether an id may speak as a syndic. Where the configuration does not say who is one, the first word
// of an id decides for as long as it has its key: a minion that was taken over does not become one.
func (v *voices) asSyndic(id string) bool {
	switch {
	case !v.opt.below:
		return false
	case len(v.opt.syndics) > 0:
		for _, pattern := range v.opt.syndics {
			if fnmatch.Match(pattern, id) {
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
	if v.opt.below && len(v.opt.syndics) == 0 {
		v.shown(id, func(s *speakers.Spoken) {
			if s.Role == "" {
				s.Role = speakers.RoleMinion
			}
		})
	}
}

// proves notes an authentic request of version 3: from then on nothing that proves nothing counts in the name of that
// id.
func (v *voices) proves(id string) {
	if v.opt.minimum >= 3 {
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
