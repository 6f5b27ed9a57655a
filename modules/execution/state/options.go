package state

import (
	"log/slog"
	"strings"

	"brine/modules/loader"
	"brine/modules/tops"
	"brine/wire/payload"
	"brine/wire/python"
)

// ofMaster are the options of a compilation that a master sets for its minions; the answers of some masters lack a few
// (BaseHighState.__gen_opts).
var ofMaster = []string{"renderer", "failhard", "state_top", "state_top_saltenv", "nodegroups",
	"state_auto_order", "file_roots", "top_file_merging_strategy", "env_order", "default_top", "jinja_env",
	"jinja_sls_env", "jinja_lstrip_blocks", "jinja_trim_blocks"}

// eitherSays are options that count when the minion or its master sets them.
var eitherSays = []string{"state_events", "state_aggregate"}

// optionsOf are the options of a compilation: those of the minion with the keywords of the function, and with those
// that its master sets. Source: get_sls_opts of salt/utils/state.py.
func optionsOf(c *loader.Call, kw *payload.Map, how settings) (*payload.Map, error) {
	opts := c.Opts().Clone()
	if saltenv := kw.Value("saltenv"); saltenv != nil {
		if python.Truth(opts.Value("lock_saltenv")) && any(python.Str(saltenv)) != opts.Value("saltenv") {
			return nil, loader.ExecErr("lock_saltenv is enabled, saltenv cannot be changed")
		}
		opts.Set("saltenv", python.Str(saltenv))
	}
	from := "pillarenv"
	if !kw.Has(from) && python.Truth(opts.Value("pillarenv_from_saltenv")) {
		from = "saltenv"
	}
	if env, given := kw.Get(from); given {
		if env != nil {
			env = python.Str(env)
		}
		opts.Set("pillarenv", env)
	}
	if how.setTest {
		opts.Set("test", how.test)
	}
	if how.base && opts.Value("saltenv") == nil {
		opts.Set("saltenv", "base")
	}
	if err := takeMasters(c, opts); err != nil {
		return nil, err
	}
	opts.Set("state_top", topURL(opts.Str("state_top")))
	return opts, nil
}

// takeMasters puts the options of the master into those of its minion.
func takeMasters(c *loader.Call, opts *payload.Map) error {
	if opts.Str("file_client") == "local" || c.Host().Master == nil {
		return nil
	}
	v, err := c.Host().Master.Request(c.Ctx, payload.M("cmd", payload.CmdMasterOpts))
	if err != nil {
		return err
	}
	masters, ok := v.(*payload.Map)
	if !ok {
		opts.Set("renderer", "jinja|yaml").Set("failhard", false).Set("state_top", "top.sls")
		opts.Set("nodegroups", payload.NewMap(0))
		return nil
	}
	for _, key := range ofMaster {
		if value, has := masters.Get(key); has {
			opts.Set(key, value)
		}
	}
	for _, key := range eitherSays {
		if !python.Truth(opts.Value(key)) && python.Truth(masters.Value(key)) {
			opts.Set(key, masters.Value(key))
		}
	}
	return nil
}

// topURL is the option state_top as a URL.
func topURL(name string) string {
	if name == "" {
		name = "top.sls"
	}
	if strings.HasPrefix(name, "salt://") {
		return name
	}
	return "salt://" + strings.TrimPrefix(name, "/")
}

// ownTops are the SLS that a masterless minion gives itself by master_tops. What goes wrong is logged and gives none,
// as in Salt.
func ownTops(c *loader.Call, option *payload.Map) (*payload.Map, error) {
	t, err := tops.New(option)
	if err != nil {
		return nil, err
	}
	more, err := t.Of(c.Ctx, c.ID)
	if err != nil && c.Ctx.Err() == nil {
		c.LogAs("salt.state", slog.LevelError, "Top function failed with error "+err.Error()+" for minion "+c.ID)
		return nil, nil
	}
	return more, err
}

// masterTops are the SLS that master_tops gives the minion, by environment.
func masterTops(c *loader.Call) (*payload.Map, error) {
	opts := c.Opts()
	if opts.Str("file_client") == "local" {
		option := opts.Map("master_tops")
		if option.Len() == 0 {
			return nil, nil
		}
		return ownTops(c, option)
	}
	if c.Host().Master == nil {
		return nil, nil
	}
	said := payload.M("id", c.ID, "grains", c.Grains(), "saltenv", opts.Value("saltenv"))
	v, err := c.Host().Master.Request(c.Ctx, payload.M("cmd", payload.CmdMasterTops, "id", c.ID, "opts", said))
	if err != nil {
		return nil, err
	}
	m, _ := v.(*payload.Map)
	return m, nil
}
