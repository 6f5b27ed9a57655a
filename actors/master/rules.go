package master

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"time"

	"brine/config"
	"brine/modules/eauth"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// rules are what a reload of the configuration replaces: who may do what, node groups, and how long a target may take.
// A value never changes: a request takes the one of its moment and is judged by it to its end, so that no request sees
// half of a change, and the next one after a reload sees all of it.
type rules struct {
	eauth         *eauth.Service // external_auth, publisher_acl, keys of local users, tokens
	blacklist     *payload.Map   // publisher_acl_blacklist
	fields        []string       // publisher_acl_fields
	peer, peerRun *payload.Map
	nodegroups    *payload.Map
	targetTimeout time.Duration
	timeout       time.Duration // of the questions that the master's own functions ask minions
	gatherTimeout time.Duration // gather_job_timeout, likewise
}

func newRules(cfg *config.Master, who *eauth.Service) *rules {
	return &rules{eauth: who, blacklist: cfg.ACLBlacklist, fields: cfg.PublisherACLFields, peer: cfg.Peer,
		peerRun: cfg.PeerRun, nodegroups: cfg.Nodegroups, targetTimeout: cfg.TargetTimeout, timeout: cfg.Timeout,
		gatherTimeout: cfg.GatherJobTimeout}
}

// Reload puts the rules of a new configuration in force, from the next request on. What else the configuration says is
// not looked at. It is called from outside of the actors, by one goroutine at a time; cfg must not change any more.
func (m *Master) Reload(cfg *config.Master) {
	c := m.core
	now := c.rules.Load()
	local := localKeys(cfg, now.eauth.Keys(), os.Geteuid() == 0, c.log)
	c.rules.Store(newRules(cfg, now.eauth.With(eauthOptions(cfg, c.running, local, c.steady.Calm, c.log))))
	c.reactions.reload(cfg.Raw.Value("reactor"), m.addChildren)
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
