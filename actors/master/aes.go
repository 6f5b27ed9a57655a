package master

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"brine/config"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/pushed"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// aesCommands are the encrypted commands of minions (salt/master.py, AESFuncs.expose_methods). 3008 has
// exactly these; verify_minion is in its list but cannot be called.
var aesCommands = map[string]handler{
	payload.CmdReturn:            storeReturn,
	payload.CmdSyndicReturn:      syndicReturn,
	payload.CmdMinionEvent:       minionEvent,
	payload.CmdPillar:            pillar,
	payload.CmdRegisterResources: registerResources,
	payload.CmdMine:              mineStore,
	payload.CmdMineGet:           mineGet,
	payload.CmdMineDelete:        mineDelete,
	payload.CmdMineFlush:         mineFlush,
	payload.CmdFileRecv:          fileRecv,
	payload.CmdFileEnvs:          fileEnvs,
	payload.CmdFileList:          emptyList,
	payload.CmdFileListEmptyDirs: emptyList,
	payload.CmdDirList:           emptyList,
	payload.CmdSymlinkList:       emptyMap,
	payload.CmdFileFind:          fileFind,
	payload.CmdFileHash:          emptyText,
	payload.CmdFileHashAndStat:   fileHashAndStat,
	payload.CmdServeFile:         serveFile,
	payload.CmdMasterOpts:        masterOpts,
	payload.CmdMasterTops:        emptyMap,
	payload.CmdMinionRunner:      minionRunner,
	payload.CmdMinionPub:         minionPub,
	payload.CmdMinionPublish:     minionPublish,
	payload.CmdPubRet:            pubRet,
	payload.CmdRevokeAuth:        revokeAuth,
	payload.CmdVerifyMinion:      emptyText,
	payload.CmdBrineFacts:        minionFacts, // not Salt's
}

// trusted tells whether a command may run: those that need a token ran its check, and the id, when there is
// one, is accepted. Unlike Salt: real masters take returns of versions 0 to 2 for any id.
func (c *core) trusted(o *auth.Opened) bool {
	if o.TokenOK || o.Cmd == payload.CmdPillar { // the private reply looks at the key itself
		return true
	}
	if auth.NeedsToken(o.Cmd) {
		return false
	}
	return o.ID == "" || c.keys.Has(keys.Accepted, o.ID)
}

// The answers of a file tree without files. The file server takes their place.
func emptyList(*core, *call) (any, error) { return []any{}, nil }
func emptyMap(*core, *call) (any, error)  { return payload.NewMap(0), nil }
func emptyText(*core, *call) (any, error) { return "", nil }
func fileEnvs(*core, *call) (any, error)  { return []any{"base"}, nil }
func fileFind(*core, *call) (any, error)  { return payload.M("path", "", "rel", ""), nil }
func fileHashAndStat(*core, *call) (any, error) {
	return []any{"", nil}, nil
}
func serveFile(*core, *call) (any, error) { return payload.M("data", "", "dest", ""), nil }

// masterOptKeys are the options a minion's state compiler asks for (salt/master.py, _master_opts).
var masterOptKeys = []string{"renderer", "failhard", "state_top", "state_top_saltenv", "nodegroups", "state_auto_order",
	"state_events", "state_aggregate", "jinja_env", "jinja_sls_env", "jinja_lstrip_blocks", "jinja_trim_blocks"}

func masterOpts(c *core, r *call) (any, error) {
	roots := payload.NewMap(0)
	for env := range c.cfg.FileRoots.All() {
		roots.Set(env, []any{})
	}
	opts := payload.M("file_roots", roots)
	for _, k := range []string{"top_file_merging_strategy", "env_order", "default_top"} {
		opts.Set(k, c.cfg.Raw.Value(k))
	}
	if r.load.Bool("env_only") {
		return opts, nil
	}
	for _, k := range masterOptKeys {
		opts.Set(k, c.cfg.Raw.Value(k))
	}
	opts.Set("nodegroups", r.rules.nodegroups)
	return opts, nil
}

// pillar answers with the pillar of the minion, which has no sources yet, and keeps its grains.
func pillar(c *core, r *call) (any, error) {
	grains := r.load.Map("grains")
	if grains == nil || !auth.ValidID(r.id) || !c.keys.Has(keys.Accepted, r.id) {
		return c.privateReply(r, payload.NewMap(0))
	}
	grains.Set("id", r.id)
	data := payload.NewMap(0)
	if c.cfg.MinionDataCache && c.mayKeepGrains(r, grains) {
		if err := c.cache.StoreGrains(r.id, grains); err != nil {
			c.log.Error("grains could not be kept", "minion", r.id, "err", err)
		}
		if err := c.cache.StorePillar(r.id, r.load.Str("pillarenv"), data); err != nil {
			c.log.Error("pillar could not be kept", "minion", r.id, "err", err)
		}
		if c.cfg.MinionDataCacheEvents {
			c.events.fire(event.TagMinionRefresh(r.id), payload.M("Minion data cache refresh", r.id))
		}
	}
	return c.privateReply(r, data)
}

// mayKeepGrains tells whether the grains of a request replace those that are kept: it must be that minion's, and within what
// a minion may store. The reply is no secret to withhold: only the owner of the key can read it.
func (c *core) mayKeepGrains(r *call, grains *payload.Map) bool {
	if !c.proven(r, c.cfg.Version2Grains, "grains without a token (version_2_grains)") {
		return false
	}
	if c.quotas.Take(r.id, quotaGrains, 1, 1, time.Now()) == 0 {
		c.deny(r.id, ledger.DeniedGrains, 1, c.grainsQuota())
		return false
	}
	if !c.fits(grains) {
		c.deny(r.id, ledger.DeniedGrains, 1, fmt.Sprintf("larger grains than minion_data_max_bytes (%d)", c.cfg.MinionDataMaxBytes))
		return false
	}
	return true
}

func (c *core) grainsQuota() string {
	return fmt.Sprintf("more requests for its pillar than minion_quota_grains (%d an hour)", c.cfg.MinionQuotaGrains)
}

// fits tells whether data of a minion is small enough to be kept.
func (c *core) fits(data *payload.Map) bool {
	if c.cfg.MinionDataMaxBytes <= 0 {
		return true
	}
	packed, err := payload.Marshal(data)
	return err == nil && int64(len(packed)) <= c.cfg.MinionDataMaxBytes
}

// proven tells whether a request is certainly that of the minion which it names. All of version 3 are; below it whoever has any
// accepted key can name any minion, unless a token comes with it. Those that minions send without one are taken where the
// configuration wants so (allowed), but not in the name of an id that has spoken version 3.
func (c *core) proven(r *call, allowed bool, why string) bool {
	if r.req.opened.Load().TokenOK {
		return true
	}
	if allowed && r.id != "" && !c.roles.Of(r.id).V3 {
		return true
	}
	c.deny(r.id, ledger.DeniedVersion, 1, why+": in its name, perhaps not by it; one that has spoken version 3 must go on to do so, or get a new key")
	return false
}

func (c *core) privateReply(r *call, data *payload.Map) (any, error) {
	frame, err := c.auth.PillarReply(r.req.opened.Load(), data)
	if err != nil {
		return nil, err
	}
	return rawFrame(frame), nil
}

// fileRecv stores one piece of a file pushed by a minion below its own folder (option file_recv).
func fileRecv(c *core, r *call) (any, error) {
	parts, ok := r.load.Value("path").([]any)
	data := r.load.Bytes("data")
	loc, hasLoc := r.load.Int("loc")
	if !c.cfg.FileRecv || !ok || !r.load.Has("data") || !hasLoc || loc < 0 {
		return false, nil
	}
	if loc+int64(len(data)) > int64(c.cfg.FileRecvMaxSize)<<20 {
		c.log.Error("file of a minion is too big", "minion", r.id, "limit_mib", c.cfg.FileRecvMaxSize)
		return false, nil
	}
	rel, local := pushed.Rel(parts)
	if !local {
		return false, nil
	}
	err := c.pushed.Write(r.id, rel, loc, data, time.Now())
	if errors.Is(err, pushed.ErrFull) {
		c.deny(r.id, ledger.DeniedFiles, 1, fmt.Sprintf("more bytes of files than minion_files_max_bytes (%d)", c.cfg.MinionFilesMaxBytes))
		return false, nil
	}
	return err == nil, err
}

func newPushed(cfg *config.Master) *pushed.Store {
	return &pushed.Store{MaxBytes: cfg.MinionFilesMaxBytes, Dir: func(id string) string { return filepath.Join(cfg.CacheDir, "minions", id, "files") }}
}

// revokeAuth deletes the key of the minion that asks, when the configuration lets minions do so.
func revokeAuth(c *core, r *call) (any, error) {
	if r.id == "" {
		return false, nil
	}
	if !c.cfg.AllowMinionKeyRevoke {
		c.log.Warn("a minion may not revoke its key (allow_minion_key_revoke)", "minion", r.id)
		return r.load, nil
	}
	if err := c.revokeKey(r.id, r.load.Bool("preserve_minion_cache")); err != nil {
		return nil, err
	}
	return true, nil
}
