package master

import (
	"fmt"
	"log/slog"
	"maps"
	"os"

	"brine/actors/master/access"
	"brine/config"
	"brine/modules/eauth"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// newRules are the rules of a configuration.
func newRules(cfg *config.Master, who *eauth.Service) *access.Rules {
	return &access.Rules{Eauth: who, Blacklist: cfg.ACLBlacklist, Fields: cfg.PublisherACLFields, Peer: cfg.Peer,
		PeerRun: cfg.PeerRun, Nodegroups: cfg.Nodegroups, TargetTimeout: cfg.TargetTimeout, Timeout: cfg.Timeout,
		GatherTimeout: cfg.GatherJobTimeout}
}

// Reload puts the rules of a new configuration in force, from the next request on. What else the configuration says is
// not looked at. It is called from outside of the actors, by one goroutine at a time; cfg must not change any more.
func (m *Master) Reload(cfg *config.Master) {
	c := m.core
	now := c.rules.Load()
	local := localKeys(cfg, now.Eauth.Keys(), os.Geteuid() == 0, c.log)
	c.rules.Store(newRules(cfg, now.Eauth.With(eauthOptions(cfg, c.running, local, c.steady.Calm, c.log))))
	c.reactions.Reload(cfg.Raw.Value("reactor"), m.addReactor)
}

// localKeys are the keys of the users of this machine under a new configuration. Only root can make a key file that
// belongs to its user. A master that runs as another user keeps the keys that it has, so that nobody is locked out, and
// says who has none: a file that it made itself would belong to the wrong user.
func localKeys(cfg *config.Master, have eauth.Keys, root bool, log *slog.Logger) eauth.Keys {
	if root {
		keys, err := cfg.AccessKeys(crypt.NewKeyString, tellDamage(log))
		if err == nil {
			return keys
		}
		log.Error("keys of local users are as they were", "err", err)
		return have
	}
	for _, user := range cfg.AccessUsers() {
		if _, ok := have[user]; !ok {
			log.Warn(fmt.Sprintf("publisher_acl names user %s, who has no key yet: only a master that starts as "+
				"root can make one", payload.Show(user)))
		}
	}
	return maps.Clone(have)
}
