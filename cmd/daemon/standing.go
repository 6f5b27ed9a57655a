package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/cmd/session"
	"brine/config"
	"brine/modules/eauth"
	"brine/wire/payload"
)

// CheckStanding ends a daemon whose configuration asks for a protection that it cannot give, with all such faults, and keeps what else is not
// honoured for tellStanding. See docs/decisions/0023.
func CheckStanding(s *session.Session) error {
	notices, err := s.Common.CheckStanding()
	var faults config.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if m := s.Minion; m != nil && !payload.ValidID(m.ID) { // before it names a directory
		faults = append(faults, &config.Error{Key: "id", Value: m.ID, Code: config.ExitUsage,
			Err: fmt.Errorf("Config option 'id' with value %q is no id of a minion", m.ID)})
	}
	if s.Master != nil {
		faults = append(faults, unknownBackends(s.Master)...)
	}
	s.Unhonoured = notices
	return faults.Err()
}

// TellStanding names the options that are not honoured, when nothing else is in the way of the start.
func TellStanding(s *session.Session) {
	for _, n := range s.Unhonoured {
		s.Log.Log(context.Background(), n.Level, n.Text)
	}
}

// unknownBackends are faults of a master whose external_auth names backends with which nobody can log in here.
func unknownBackends(m *config.Master) (faults config.Faults) {
	for k, v := range m.ExternalAuth.All() {
		name, _ := k.(string)
		if name == "" || name[0] == '^' || slices.Contains(eauth.Backends(), name) || v == nil {
			continue
		}
		faults = append(faults, m.NotYet("external_auth", v, "there is no backend '%s' here, so nobody could log in with it", name))
	}
	return faults
}
