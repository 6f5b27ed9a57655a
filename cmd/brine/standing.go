package main

import (
	"context"
	"fmt"
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
		if err := knownBackends(s.master); err != nil {
			return err
		}
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

// knownBackends ends a master whose external_auth names a backend with which nobody can log in here.
func knownBackends(m *config.Master) error {
	for k, v := range m.ExternalAuth.All() {
		name, _ := k.(string)
		if name == "" || name[0] == '^' || slices.Contains(eauth.Backends(), name) || v == nil {
			continue
		}
		return m.NotYet("external_auth", v, "there is no backend '%s' here, so nobody could log in with it", name)
	}
	return nil
}
