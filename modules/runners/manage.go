package runners

import (
	"slices"
	"sort"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/event"
	"brine/wire/payload"
)

const sourceManage = "salt/runners/manage.py"

func (r *runner) manageFuncs() []loader.Func {
	ping := []loader.Param{loader.Opt("tgt", "*"), loader.Opt("tgt_type", "glob"),
		loader.Opt("timeout", nil), loader.Opt("gather_job_timeout", nil)}
	with := func(p loader.Param) []loader.Param { return append([]loader.Param{p}, ping...) }
	funcs := []loader.Func{
		{Name: "manage.status", Source: sourceManage, Params: with(loader.Opt("output", true)), Run: r.manageStatus,
			Doc: "Ping minions and tell which are up and which are down.\n\nCLI Example:\n\n    salt-run manage.status"},
		{Name: "manage.up", Source: sourceManage, Params: ping, Run: r.manageUp,
			Doc: "List the minions that answer a ping.\n\nCLI Example:\n\n    salt-run manage.up"},
		{Name: "manage.down", Source: sourceManage, Params: with(loader.Opt("removekeys", false)), Run: r.manageDown,
			Doc: "List the minions that do not answer a ping, and remove their keys on demand.\n\nCLI Example:\n\n    salt-run manage.down"},
		{Name: "manage.versions", Source: sourceManage, Run: r.manageVersions,
			Doc: "Compare the versions of the minions with the master's.\n\nCLI Example:\n\n    salt-run manage.versions"},
	}
	states := []loader.Param{loader.Opt("subset", nil), loader.Opt("show_ip", false)}
	for _, name := range []string{"alived", "present", "joined", "allowed", "reaped", "list_state"} {
		not := "not_" + name
		if name == "list_state" {
			not = "list_not_state"
		}
		funcs = append(funcs,
			loader.Func{Name: "manage." + name, Source: sourceManage, Params: states, Run: r.manageConnected,
				Doc: "List the minions connected at the moment, without asking them.\n\nCLI Example:\n\n    salt-run manage." + name},
			loader.Func{Name: "manage." + not, Source: sourceManage, Params: states, Run: r.manageNotConnected,
				Doc: "List the accepted minions that are not connected, without asking them.\n\nCLI Example:\n\n    salt-run manage." + not})
	}
	return funcs
}

// ping asks minions for test.ping and returns who answered and who did not.
func (r *runner) ping(c *loader.Call, a loader.Args) (up, down []string, err error) {
	got, err := r.collect(c, Job{Tgt: a.Get("tgt"), TgtType: a.Str("tgt_type"), Fun: "test.ping",
		Timeout: seconds(a.Get("timeout")), Gather: seconds(a.Get("gather_job_timeout"))})
	if err != nil {
		return nil, nil, err
	}
	for id := range got.Returns.All() {
		up = append(up, pytext.Str(id))
	}
	for _, id := range got.Minions {
		if !got.Returns.Has(id) {
			down = append(down, id)
		}
	}
	sort.Strings(up)
	sort.Strings(down)
	return up, slices.Compact(down), nil
}

func (r *runner) manageStatus(c *loader.Call, a loader.Args) (any, error) {
	up, down, err := r.ping(c, a)
	if err != nil {
		return nil, err
	}
	return payload.M("up", payload.AnyList(up), "down", payload.AnyList(down)), nil
}

func (r *runner) manageUp(c *loader.Call, a loader.Args) (any, error) {
	up, _, err := r.ping(c, a)
	if err != nil {
		return nil, err
	}
	return payload.AnyList(up), nil
}

func (r *runner) manageDown(c *loader.Call, a loader.Args) (any, error) {
	_, down, err := r.ping(c, a)
	if err != nil {
		return nil, err
	}
	if a.Bool("removekeys") && len(down) > 0 {
		if err := r.removeKeys(c, down); err != nil {
			return nil, err
		}
	}
	return payload.AnyList(down), nil
}

func (r *runner) removeKeys(c *loader.Call, ids []string) error {
	if r.Keys == nil {
		return unavailable("key store")
	}
	sel, err := r.Keys.MatchList(ids)
	if err != nil {
		return err
	}
	change, err := r.Keys.Delete(sel)
	for _, e := range change.Events {
		if r.Bus != nil {
			// The keys are gone whether or not the bus hears of it.
			_ = r.Bus.Fire(c.Ctx, event.TagKey, e.Data())
		}
	}
	return err
}

// connected reads presence, within a subset when one is given.
func (r *runner) connected(subset any) (map[string]string, error) {
	if r.Presence == nil {
		return nil, unavailable("presence detection")
	}
	all, err := r.Presence.Connected()
	if err != nil || subset == nil {
		return all, err
	}
	out := map[string]string{}
	for _, id := range loader.StringList(subset) {
		if ip, ok := all[id]; ok {
			out[id] = ip
		}
	}
	return out, nil
}

func (r *runner) manageConnected(_ *loader.Call, a loader.Args) (any, error) {
	connected, err := r.connected(a.Get("subset"))
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(connected))
	for id := range connected {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	if !a.Bool("show_ip") {
		return payload.AnyList(ids), nil
	}
	out := payload.NewMap(len(ids))
	for _, id := range ids {
		out.Set(id, connected[id])
	}
	return out, nil
}

func (r *runner) manageNotConnected(_ *loader.Call, a loader.Args) (any, error) {
	connected, err := r.connected(nil)
	if err != nil {
		return nil, err
	}
	if r.Keys == nil {
		return nil, unavailable("key store")
	}
	accepted, err := r.Keys.IDs(keys.Accepted)
	if err != nil {
		return nil, err
	}
	subset := loader.StringList(a.Get("subset"))
	out := []any{}
	for _, id := range accepted {
		if _, up := connected[id]; !up && (a.Get("subset") == nil || slices.Contains(subset, id)) {
			out = append(out, id)
		}
	}
	return out, nil
}

func (r *runner) manageVersions(c *loader.Call, _ loader.Args) (any, error) {
	got, err := r.collect(c, Job{Tgt: "*", Fun: "test.version"})
	if err != nil {
		return nil, err
	}
	groups := map[string]*payload.Map{}
	ids := slices.Clone(got.Minions)
	for id := range got.Returns.All() {
		ids = append(ids, pytext.Str(id))
	}
	sort.Strings(ids)
	for _, id := range slices.Compact(ids) {
		label, version := r.compareVersion(got.Returns.Map(id))
		if groups[label] == nil {
			groups[label] = payload.NewMap(0)
		}
		groups[label].Set(id, version)
	}
	out := payload.NewMap(0)
	for _, label := range []string{"Minion offline", "Minion requires update", "Up to date",
		"Minion newer than master"} {
		if groups[label] != nil {
			out.Set(label, groups[label])
		}
	}
	return out.Set("Master", r.Version), nil
}

// compareVersion puts a minion's answer to test.version in a group.
func (r *runner) compareVersion(ret *payload.Map) (label string, version any) {
	code, _ := ret.Int("retcode")
	if ret == nil || code != 0 {
		return "Minion offline", false
	}
	text := pytext.Str(ret.Value("return"))
	switch compareVersions(text, r.Version) {
	case -1:
		return "Minion requires update", text
	case 1:
		return "Minion newer than master", text
	}
	return "Up to date", text
}
