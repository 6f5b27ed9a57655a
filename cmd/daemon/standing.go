package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/session"
	"brine/config"
	"brine/modules/eauth"
	"brine/modules/engines"
	"brine/wire/payload"
)

// CheckStanding returns an error if the configuration asks for a protection that the daemon cannot give. The
// error names all such faults. Other options that brine does not honour are kept for TellStanding. See
// docs/decisions/0023.
func CheckStanding(s *session.Session) error {
	notices, err := s.Common.CheckStanding()
	var faults config.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if m := s.Minion; m != nil && !payload.ValidID(m.ID) { // an id becomes the name of a directory
		faults = append(faults, &config.Error{Key: "id", Value: m.ID, Code: config.ExitUsage,
			Err: fmt.Errorf("Config option 'id' with value %q is no id of a minion", m.ID)})
	}
	if s.Master != nil {
		faults = append(faults, unknownBackends(s.Master)...)
	}
	faults = append(faults, engineFaults(s)...)
	s.Unhonoured = append(notices, absences(s)...)
	return faults.Err()
}

// TellStanding logs the options that brine does not honour. Call it when nothing else prevents the start.
func TellStanding(s *session.Session) {
	for _, n := range s.Unhonoured {
		s.Log.Log(context.Background(), n.Level, n.Text)
	}
}

// engineFaults returns the faults of the engines and of the programs beside a daemon. A missing engine is a
// fault, because a user relies on it. Salt's daemons would not start it either, but would not say so.
func engineFaults(s *session.Session) (faults config.Faults) {
	role := s.Common.Raw.Str("__role")
	fault := func(key string, err error) {
		if err != nil {
			faults = append(faults, s.Common.NotYet(key, s.Common.Raw.Value(key), "%s", strings.ReplaceAll(err.Error(),
				"\n", "; ")))
		}
	}
	_, err := engines.Parse(s.Common.Raw.Value("engines"), role)
	fault("engines", err)
	if s.Master != nil {
		_, _, err = engines.ParseExt(s.Common.Raw.Value("ext_processes"))
		fault("ext_processes", err)
	}
	return faults
}

// unknownBackends returns a fault for each backend in external_auth with which no user could log in here.
func unknownBackends(m *config.Master) (faults config.Faults) {
	for k, v := range m.ExternalAuth.All() {
		name, _ := k.(string)
		if name == "" || name[0] == '^' || slices.Contains(eauth.Backends(), name) || v == nil {
			continue
		}
		faults = append(faults, m.NotYet("external_auth", v, "there is no backend '%s' here, so nobody could log in "+
			"with it", name))
	}
	for _, err := range eauth.Faults(m.ExternalAuth, m.Raw) {
		faults = append(faults, m.NotYet("external_auth", nil, "%v", err))
	}
	switch module := m.Raw.Str("eauth_acl_module"); {
	case module != "" && !slices.Contains(eauth.Backends(), module):
		faults = append(faults, m.NotYet("eauth_acl_module", module, "there is no backend '%s' here", module))
	case module == "rest" && !m.ExternalAuth.Has(module):
		faults = append(faults, m.NotYet("eauth_acl_module", module, "external_auth has no section '%s', so nobody "+
			"could log in", module))
	}
	return faults
}
