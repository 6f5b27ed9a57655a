package master

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"brine/modules/keys"
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
	payload.CmdMine:              mine,
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
	if c.cfg.MinionDataCache {
		if err := c.cache.StoreGrains(r.id, grains); err != nil {
			c.log.Error("grains could not be kept", "minion", r.id, "err", err)
		}
		if err := c.cache.StorePillar(r.id, r.load.Str("pillarenv"), data); err != nil {
			c.log.Error("pillar could not be kept", "minion", r.id, "err", err)
		}
		if c.cfg.MinionDataCacheEvents {
			c.fire(event.TagMinionRefresh(r.id), payload.M("Minion data cache refresh", r.id))
		}
	}
	return c.privateReply(r, data)
}

func (c *core) privateReply(r *call, data *payload.Map) (any, error) {
	frame, err := c.auth.PillarReply(r.req.opened.Load(), data)
	if err != nil {
		return nil, err
	}
	return rawFrame(frame), nil
}

func registerResources(c *core, r *call) (any, error) {
	if !r.load.Has("resources") {
		return payload.NewMap(0), nil
	}
	if c.cfg.MinionDataCache && c.cfg.MinionDataCacheEvents {
		c.fire(event.TagResourceRefresh(r.id), payload.M("Resource cache refresh", r.id))
	}
	return true, nil
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
	names := make([]string, 0, len(parts))
	for _, p := range parts {
		name, isText := p.(string)
		if !isText || name == ".." {
			return false, nil
		}
		names = append(names, name)
	}
	base := filepath.Join(c.cfg.CacheDir, "minions", r.id, "files")
	rel := filepath.Join(names...)
	if !filepath.IsLocal(rel) || rel == "." {
		return false, nil
	}
	return writePiece(base, rel, loc, data)
}

// writePiece writes data at an offset; offset 0 begins the file anew. os.Root keeps links from leading out.
func writePiece(base, rel string, loc int64, data []byte) (any, error) {
	if err := os.MkdirAll(filepath.Join(base, filepath.Dir(rel)), 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	flags := os.O_CREATE | os.O_WRONLY
	if loc == 0 {
		flags |= os.O_TRUNC
	}
	f, err := root.OpenFile(rel, flags, fs.FileMode(0o644))
	if err != nil {
		return nil, err
	}
	_, err = f.WriteAt(data, loc)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return true, nil
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
