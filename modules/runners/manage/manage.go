// Package manage is the runner module manage: it tells which minions are up, connected, and of which version. Answers
// to salt/runners/manage.py.
package manage

import (
	"slices"
	"sort"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module manage.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "manage", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat([]loader.Func{
			loader.Fn("status", m.status, "Ping minions and tell which are up and which are down.",
				"salt-run manage.status"),
			loader.Fn("up", m.up, "List the minions that answer a ping.", "salt-run manage.up"),
			loader.Fn("down", m.down, "List the minions that do not answer a ping, and remove their keys on demand.",
				"salt-run manage.down"),
			loader.Fn("versions", m.versions, "Compare the versions of the minions with the master's.",
				"salt-run manage.versions"),
		}, m.presence())
	}}
}

// master knows its minions.
type master struct{ runners.Options }

// presence are the functions that ask no minion.
func (m *master) presence() []loader.Func {
	var funcs []loader.Func
	for _, name := range []string{"alived", "present", "joined", "allowed", "reaped", "list_state"} {
		not := "not_" + name
		if name == "list_state" {
			not = "list_not_state"
		}
		funcs = append(funcs,
			loader.Fn(name, m.there, "List the minions connected at the moment, without asking them.",
				"salt-run manage."+name),
			loader.Fn(not, m.notThere, "List the accepted minions that are not connected, without asking them.",
				"salt-run manage."+not))
	}
	return funcs
}

// pinged are the minions that are asked, and how long.
type pinged struct {
	Tgt     any    `arg:"tgt=*"`
	Type    string `arg:"tgt_type=glob"`
	Timeout any    `arg:"timeout=None"`
	Gather  any    `arg:"gather_job_timeout=None"`
}

// ping asks minions for test.ping and returns who answered and who did not.
func (m *master) ping(c *loader.Call, a pinged) (up, down []string, err error) {
	got, err := m.Collect(c, runners.Job{Tgt: a.Tgt, TgtType: a.Type, Fun: "test.ping",
		Timeout: runners.Seconds(a.Timeout), Gather: runners.Seconds(a.Gather)})
	if err != nil {
		return nil, nil, err
	}
	for id := range got.Returns.All() {
		up = append(up, python.Str(id))
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

type statusArgs struct {
	Output any `arg:"output=True"` // has no meaning, as in Salt
	pinged
}

func (m *master) status(c *loader.Call, a statusArgs) (*payload.Map, error) {
	up, down, err := m.ping(c, a.pinged)
	if err != nil {
		return nil, err
	}
	return payload.M("up", payload.AnyList(up), "down", payload.AnyList(down)), nil
}

func (m *master) up(c *loader.Call, a pinged) ([]any, error) {
	up, _, err := m.ping(c, a)
	if err != nil {
		return nil, err
	}
	return payload.AnyList(up), nil
}

type downArgs struct {
	RemoveKeys bool `arg:"removekeys=False"`
	pinged
}

func (m *master) down(c *loader.Call, a downArgs) ([]any, error) {
	_, down, err := m.ping(c, a.pinged)
	if err != nil {
		return nil, err
	}
	if a.RemoveKeys && len(down) > 0 {
		if err := m.removeKeys(c, down); err != nil {
			return nil, err
		}
	}
	return payload.AnyList(down), nil
}

func (m *master) removeKeys(c *loader.Call, ids []string) error {
	if m.Keys == nil {
		return runners.Unavailable("key store")
	}
	sel, err := m.Keys.MatchList(ids)
	if err != nil {
		return err
	}
	change, err := m.Keys.Delete(sel)
	for _, e := range change.Events {
		if m.Bus != nil {
			// The keys are gone whether or not the bus hears of it.
			_ = m.Bus.Fire(c.Ctx, event.TagKey, e.Data())
		}
	}
	return err
}

// connected reads presence, within a subset when one is given.
func (m *master) connected(subset any) (map[string]string, error) {
	if m.Presence == nil {
		return nil, runners.Unavailable("presence detection")
	}
	all, err := m.Presence.Connected()
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

// connectedArgs are which minions are looked at, and what is shown of them.
type connectedArgs struct {
	Subset any  `arg:"subset=None"`
	ShowIP bool `arg:"show_ip=False"`
}

func (m *master) there(_ *loader.Call, a connectedArgs) (any, error) {
	connected, err := m.connected(a.Subset)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(connected))
	for id := range connected {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	if !a.ShowIP {
		return payload.AnyList(ids), nil
	}
	out := payload.NewMap(len(ids))
	for _, id := range ids {
		out.Set(id, connected[id])
	}
	return out, nil
}

func (m *master) notThere(_ *loader.Call, a connectedArgs) ([]any, error) {
	connected, err := m.connected(nil)
	if err != nil {
		return nil, err
	}
	if m.Keys == nil {
		return nil, runners.Unavailable("key store")
	}
	accepted, err := m.Keys.IDs(keys.Accepted)
	if err != nil {
		return nil, err
	}
	subset := loader.StringList(a.Subset)
	out := []any{}
	for _, id := range accepted {
		if _, up := connected[id]; !up && (a.Subset == nil || slices.Contains(subset, id)) {
			out = append(out, id)
		}
	}
	return out, nil
}

func (m *master) versions(c *loader.Call, _ struct{}) (*payload.Map, error) {
	got, err := m.Collect(c, runners.Job{Tgt: "*", Fun: "test.version"})
	if err != nil {
		return nil, err
	}
	groups := map[string]*payload.Map{}
	ids := slices.Clone(got.Minions)
	for id := range got.Returns.All() {
		ids = append(ids, python.Str(id))
	}
	sort.Strings(ids)
	for _, id := range slices.Compact(ids) {
		label, version := m.compareVersion(got.Returns.Map(id))
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
	return out.Set("Master", m.Version), nil
}

// compareVersion puts a minion's answer to test.version in a group.
func (m *master) compareVersion(ret *payload.Map) (label string, version any) {
	code, _ := ret.Int("retcode")
	if ret == nil || code != 0 {
		return "Minion offline", false
	}
	text := python.Str(ret.Value("return"))
	switch compareVersions(text, m.Version) {
	case -1:
		return "Minion requires update", text
	case 1:
		return "Minion newer than master", text
	}
	return "Up to date", text
}
