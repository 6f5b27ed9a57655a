// Package key is the wheel module key: it lists, shows, moves and makes keys of minions. salt-key stands on the same
// operations. It answers to salt/wheel/key.py.
package key

import (
	"slices"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/wheel"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module key.
func Module(o wheel.Options) loader.Module {
	k := &master{keys: o.Keys, bus: o.Events}
	return loader.Module{File: "key", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(k.looks(), k.changes(), k.makes())
	}}
}

// master has the keys, and the bus that tells of their changes; each may be nil.
type master struct {
	keys *keys.Manager
	bus  wheel.EventFirer
}

// looks are the functions that list and show keys.
func (k *master) looks() []loader.Func {
	return []loader.Func{
		fn(k, "list", listStatus, "List the keys of one status: acc, pre, un, rej, den or all.").Named("list_"),
		fn(k, "list_all", listAll, "List all keys by status."),
		fn(k, "glob_match", globMatch, "List the keys whose id matches a glob, by status."),
		fn(k, "name_match", globMatch, "List the keys whose id matches a glob, by status; the old name of glob_match."),
		fn(k, "print", printKeys, "Show the keys that match a glob."),
		fn(k, "finger", finger, "Show the fingerprints of the keys that match a glob."),
		fn(k, "finger_master", fingerMaster, "Show the fingerprint of the master's public key."),
		fn(k, "master_key_str", masterKey, "Show the master's public key."),
	}
}

// changes are the functions that move and delete keys.
func (k *master) changes() []loader.Func {
	return []loader.Func{
		fn(k, "accept", byGlob(k, accepted.change), "Accept pending keys that match a glob."),
		fn(k, "accept_dict", byDict(k, accepted.change), "Accept keys given by status."),
		fn(k, "reject", byGlob(k, rejected.change), "Reject pending keys that match a glob."),
		fn(k, "reject_dict", byDict(k, rejected.change), "Reject keys given by status."),
		fn(k, "delete", byGlob(k, deleted.change), "Delete keys that match a glob."),
		fn(k, "delete_dict", byDict(k, deleted.change), "Delete keys given by status."),
	}
}

// fn is a function that needs the keys.
func fn[A, R any](k *master, name string, run func(*keys.Manager, *loader.Call, A) (R, error), doc string) loader.Func {
	return loader.Fn(name, func(c *loader.Call, a A) (R, error) {
		if k.keys == nil {
			var none R
			return none, wheel.Unavailable("key store")
		}
		return run(k.keys, c, a)
	}, doc)
}

// GroupsMap is keys by status as Salt's tools hand them around.
func GroupsMap(groups keys.Groups) *payload.Map {
	out := payload.NewMap(len(groups))
	for _, g := range groups {
		out.Set(string(g.Status), payload.AnyList(g.IDs))
	}
	return out
}

// TextsMap is keys or fingerprints by status and id.
func TextsMap(texts []keys.Texts) *payload.Map {
	out := payload.NewMap(len(texts))
	for _, t := range texts {
		group := payload.NewMap(len(t.Items))
		for _, item := range t.Items {
			group.Set(item.ID, item.Text)
		}
		out.Set(string(t.Status), group)
	}
	return out
}

// groupsOf reads keys by status from an argument.
func groupsOf(v any) (keys.Groups, error) {
	m, ok := v.(*payload.Map)
	if !ok {
		return nil, loader.InvocErr("match must be a map of lists of ids by status")
	}
	var out keys.Groups
	for status, ids := range m.All() {
		out = append(out, keys.Group{Status: keys.Status(python.Str(status)), IDs: loader.StringList(ids)})
	}
	if err := out.Check(); err != nil { // before anything is done
		return nil, loader.InvocErr("%s", err)
	}
	return out, nil
}

// matched is the argument match: one text with commas, or a list; for functions of keys by status a map.
type matched struct {
	Match any `arg:"match"`
}

func (a matched) match() any { return a.Match }

// globs are the words of the argument match.
func globs(match any) []string {
	if list, ok := match.([]any); ok {
		return loader.StringList(list)
	}
	return keys.SplitGlob(loader.Text(match))
}

func groupsResult(groups keys.Groups, err error) (*payload.Map, error) {
	if err != nil {
		return nil, err
	}
	return GroupsMap(groups), nil
}

func listStatus(m *keys.Manager, _ *loader.Call, a matched) (*payload.Map, error) {
	return groupsResult(m.ListStatus(loader.Text(a.Match)))
}

func listAll(m *keys.Manager, _ *loader.Call, _ struct{}) (*payload.Map, error) {
	return groupsResult(m.ListAll())
}

func globMatch(m *keys.Manager, _ *loader.Call, a matched) (*payload.Map, error) {
	return groupsResult(m.Match(globs(a.Match), false))
}

// report fires the events of a change and tells where the keys of the selection are now.
func (k *master) report(c *loader.Call, change keys.Change, err error,
	where func() (keys.Groups, error)) (*payload.Map, error) {
	for _, e := range change.Events {
		if k.bus != nil {
			// The keys are moved whether or not the bus hears of it.
			_ = k.bus.Fire(c.Ctx, event.TagKey, e.Data())
		}
	}
	if err != nil {
		return nil, err
	}
	return groupsResult(where())
}

// changed are the arguments of a function that changes keys.
type changed interface{ match() any }

// byGlob changes what a glob matches.
func byGlob[A changed](k *master, change func(A, *keys.Manager, keys.Groups) (keys.Change, error)) func(*keys.Manager,
	*loader.Call, A) (*payload.Map, error) {
	return func(m *keys.Manager, c *loader.Call, a A) (*payload.Map, error) {
		words := globs(a.match())
		sel, err := m.Match(words, false)
		if err != nil {
			return nil, err
		}
		done, err := change(a, m, sel)
		return k.report(c, done, err, func() (keys.Groups, error) { return m.Match(words, false) })
	}
}

// byDict changes what is given by status.
func byDict[A changed](k *master, change func(A, *keys.Manager, keys.Groups) (keys.Change, error)) func(*keys.Manager,
	*loader.Call, A) (*payload.Map, error) {
	return func(m *keys.Manager, c *loader.Call, a A) (*payload.Map, error) {
		sel, err := groupsOf(a.match())
		if err != nil {
			return nil, err
		}
		done, err := change(a, m, sel)
		return k.report(c, done, err, func() (keys.Groups, error) { return m.Where(sel) })
	}
}

type accepted struct {
	matched
	Rejected bool `arg:"include_rejected=False"`
	Denied   bool `arg:"include_denied=False"`
}

func (a accepted) change(m *keys.Manager, sel keys.Groups) (keys.Change, error) {
	return m.Accept(sel, keys.Include{Rejected: a.Rejected, Denied: a.Denied})
}

type rejected struct {
	matched
	Accepted bool `arg:"include_accepted=False"`
	Denied   bool `arg:"include_denied=False"`
}

func (a rejected) change(m *keys.Manager, sel keys.Groups) (keys.Change, error) {
	return m.Reject(sel, keys.Include{Accepted: a.Accepted, Denied: a.Denied})
}

type deleted struct{ matched }

func (deleted) change(m *keys.Manager, sel keys.Groups) (keys.Change, error) { return m.Delete(sel) }

func printKeys(m *keys.Manager, _ *loader.Call, a matched) (*payload.Map, error) {
	sel, err := m.Match(globs(a.Match), false)
	if err != nil {
		return nil, err
	}
	texts, err := m.Print(sel)
	if err != nil {
		return nil, err
	}
	return TextsMap(texts), nil
}

// hashed is the argument hash_type.
type hashed struct {
	Type string `arg:"hash_type=None"`
}

// or is the argument, or the option.
func (a hashed) or(c *loader.Call) string {
	if a.Type != "" {
		return a.Type
	}
	return c.Opts().Str("hash_type")
}

type fingers struct {
	matched
	hashed
}

func finger(m *keys.Manager, c *loader.Call, a fingers) (*payload.Map, error) {
	sel, err := m.Match(globs(a.Match), true)
	if err != nil {
		return nil, err
	}
	texts, err := m.Finger(sel, a.or(c))
	if err != nil {
		return nil, err
	}
	return TextsMap(texts), nil
}

func fingerMaster(m *keys.Manager, c *loader.Call, a hashed) (*payload.Map, error) {
	_, pem, err := m.MasterPub()
	if err != nil {
		return nil, err
	}
	text, err := keys.Fingerprint(pem, a.or(c))
	if err != nil {
		return nil, err
	}
	return payload.M("local", payload.M("master.pub", text)), nil
}

func masterKey(m *keys.Manager, _ *loader.Call, _ struct{}) (*payload.Map, error) {
	name, pem, err := m.MasterPub()
	if err != nil {
		return nil, err
	}
	return payload.M("local", payload.M(name, pem)), nil
}
