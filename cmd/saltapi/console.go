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

// consolePages are the handlers of the web console, for a server module that has it. Its section tells prefix,
// authorized_ips and api_acl; secure says that it speaks TLS.
func consolePages(s *session.Session, r *rights, mount console.Mount, secure bool) map[string]http.Handler {
	mount.Rules = r.of
	return map[string]http.Handler{"/console": mount.Handler(console.Options{Logger: s.Log,
		Master: control.At(s.Master.SockDir), Secure: secure, Files: consoleFiles{r.targets, masterlink.Cache(s)},
		Version: tool.Version, Eauths: r.eauths,
		MasterUsers: []string{s.Master.User, session.RunningUser()}})}
}

// eauthNames are the kinds of external authentication that the configuration names, in its order.
func eauthNames(external *payload.Map) (names []string) {
	for k := range external.All() {
		if name, ok := k.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// consoleFiles are the files of the master that the console reads.
type consoleFiles struct {
	targets *matchers.Expander
	cache   *datacache.Banks
}

// Expand works out whom a target means.
func (f consoleFiles) Expand(ctx context.Context, tgt any, tgtType string) (matchers.Expansion, error) {
	return f.targets.Expand(ctx, tgt, tgtType, "", true)
}

// Grains are those that a minion has told.
func (f consoleFiles) Grains(id string, names ...any) (*payload.Map, error) {
	if len(names) > 0 {
		return f.cache.Fields(datacache.BankGrains, id, names...)
	}
	return f.cache.Data(datacache.BankGrains, id)
}

var _ console.Files = consoleFiles{}
