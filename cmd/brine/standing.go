package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"brine/config"
	"brine/modules/eauth"
	"brine/wire/payload"
)

// checkStanding ends a daemon whose configuration asks for a protection that it cannot give, and keeps what else is not
// honoured for tellStanding. See docs/decisions/0023.
func checkStanding(s *session) error {
	notices, err := s.common.CheckStanding()
	if err != nil {
		return err
	}
	if m := s.minion; m != nil && !payload.ValidID(m.ID) { // before it names a directory
		return &config.Error{Key: "id", Value: m.ID, Code: config.ExitUsage, Err: fmt.Errorf("Config option 'id' with value %q is no id of a minion", m.ID)}
	}
	if s.master != nil {
		notices = append(notices, unknownBackends(s.master)...)
	}
	s.unhonoured = notices
	return nil
}

// tellStanding names the options that are not honoured, when nothing else is in the way of the start.
func (s *session) tellStanding() {
	for _, n := range s.unhonoured {
		s.log.Log(context.Background(), n.Level, n.Text)
	}
}

// unknownBackends names what external_auth asks for and nobody can log in with.
func unknownBackends(m *config.Master) []config.Notice {
	var out []config.Notice
	for k, v := range m.ExternalAuth.All() {
		name, _ := k.(string)
		if name == "" || name[0] == '^' || slices.Contains(eauth.Backends(), name) || v == nil {
			continue
		}
		out = append(out, config.Notice{Level: slog.LevelWarn,
			Text: fmt.Sprintf("Config option 'external_auth': there is no backend '%s' here: nobody can log in with it", name)})
	}
	return out
}
