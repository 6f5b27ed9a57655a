package saltapi

import (
	"context"
	"net/http"

	"brine/actors/netapi/console"
	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/fleet/datacache"
	"brine/modules/matchers"
	"brine/wire/control"
	"brine/wire/payload"
)

// consolePages returns the handlers of the web console for a server module. The module's section gives prefix,
// authorized_ips and api_acl. secure means that the server uses TLS.
func consolePages(s *session.Session, r *rights, mount console.Mount, secure bool) map[string]http.Handler {
	mount.Rules = r.of
	return map[string]http.Handler{"/console": mount.Handler(console.Options{Logger: s.Log,
		Master: control.At(s.Master.SockDir), Secure: secure, Files: consoleFiles{r.targets, masterlink.Cache(s)},
		Version: tool.Version, Eauths: r.eauths,
		MasterUsers: []string{s.Master.User, session.RunningUser()}})}
}

// eauthNames returns the kinds of external authentication in the configuration, in its order.
func eauthNames(external *payload.Map) (names []string) {
	for k := range external.All() {
		if name, ok := k.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// consoleFiles gives the console data from files of the master.
type consoleFiles struct {
	targets *matchers.Expander
	cache   *datacache.Banks
}

// Expand returns the minions that a target matches.
func (f consoleFiles) Expand(ctx context.Context, tgt any, tgtType string) (matchers.Expansion, error) {
	return f.targets.Expand(ctx, tgt, tgtType, "", true)
}

// Grains returns a minion's grains from the master's cache.
func (f consoleFiles) Grains(id string, names ...any) (*payload.Map, error) {
	if len(names) > 0 {
		return f.cache.Fields(datacache.BankGrains, id, names...)
	}
	return f.cache.Data(datacache.BankGrains, id)
}

var _ console.Files = consoleFiles{}
