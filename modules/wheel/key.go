package wheel

import (
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/event"
	"brine/wire/payload"
)

const sourceKey = "salt/wheel/key.py"

// keyFuncs list, show and move keys.
func (w *wheel) keyFuncs() []loader.Func {
	match := loader.Req("match")
	rejected, denied := loader.Opt("include_rejected", false), loader.Opt("include_denied", false)
	accepted := loader.Opt("include_accepted", false)
	f := func(name, doc string, run runFunc, params ...loader.Param) loader.Func {
		return loader.Func{Name: "key." + name, Source: sourceKey, Params: params, Doc: doc, Run: w.withKeys(run)}
	}
	list := f("list", "List the keys of one status: acc, pre, un, rej, den or all.", listStatus, match)
	list.PyName = "list_"
	return []loader.Func{
		list,
		f("list_all", "List all keys by status.", listAll),
		f("glob_match", "List the keys whose id matches a glob, by status.", globMatch, match),
		f("name_match", "List the keys whose id matches a glob, by status; the old name of glob_match.", globMatch, match),
		f("accept", "Accept pending keys that match a glob.", w.accept, match, rejected, denied),
		f("accept_dict", "Accept keys given by status.", w.acceptDict, match, rejected, denied),
		f("reject", "Reject pending keys that match a glob.", w.reject, match, accepted, denied),
		f("reject_dict", "Reject keys given by status.", w.rejectDict, match, accepted, denied),
		f("delete", "Delete keys that match a glob.", w.remove, match),
		f("delete_dict", "Delete keys given by status.", w.removeDict, match),
		f("print", "Show the keys that match a glob.", printKeys, match),
		f("finger", "Show the fingerprints of the keys that match a glob.", finger, match, loader.Opt("hash_type", nil)),
		f("finger_master", "Show the fingerprint of the master's public key.", fingerMaster, loader.Opt("hash_type", nil)),
		f("master_key_str", "Show the master's public key.", masterKey),
	}
}

type runFunc func(m *keys.Manager, c *loader.Call, a loader.Args) (any, error)

func (w *wheel) withKeys(run runFunc) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		if w.Keys == nil {
			return nil, unavailable("key store")
		}
		return run(w.Keys, c, a)
	}
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
		out = append(out, keys.Group{Status: keys.Status(pytext.Str(status)), IDs: loader.StringList(ids)})
	}
	if err := out.Check(); err != nil { // before anything is done
		return nil, loader.InvocErr("%s", err)
	}
	return out, nil
}

// globs reads the argument match: one text with commas, or a list.
func globs(a loader.Args) []string {
	if list, ok := a.Get("match").([]any); ok {
		return loader.StringList(list)
	}
	return keys.SplitGlob(a.Str("match"))
}

func groupsResult(groups keys.Groups, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return GroupsMap(groups), nil
}

func listStatus(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	return groupsResult(m.ListStatus(a.Str("match")))
}

func listAll(m *keys.Manager, _ *loader.Call, _ loader.Args) (any, error) {
	return groupsResult(m.ListAll())
}

func globMatch(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	return groupsResult(m.Match(globs(a), false))
}

// report fires the events of a change and tells where the keys of the selection are now.
func (w *wheel) report(c *loader.Call, change keys.Change, err error,
	where func() (keys.Groups, error)) (any, error) {
	for _, e := range change.Events {
		if w.Events != nil {
			// The keys are moved whether or not the bus hears of it.
			_ = w.Events.Fire(c.Ctx, event.TagKey, e.Data())
		}
	}
	if err != nil {
		return nil, err
	}
	return groupsResult(where())
}

// byGlob changes what a glob matches, byDict what is given by status.
func (w *wheel) byGlob(m *keys.Manager, c *loader.Call, a loader.Args,
	change func(keys.Groups) (keys.Change, error)) (any, error) {
	words := globs(a)
	sel, err := m.Match(words, false)
	if err != nil {
		return nil, err
	}
	done, err := change(sel)
	return w.report(c, done, err, func() (keys.Groups, error) { return m.Match(words, false) })
}

func (w *wheel) byDict(m *keys.Manager, c *loader.Call, a loader.Args,
	change func(keys.Groups) (keys.Change, error)) (any, error) {
	sel, err := groupsOf(a.Get("match"))
	if err != nil {
		return nil, err
	}
	done, err := change(sel)
	return w.report(c, done, err, func() (keys.Groups, error) { return m.Where(sel) })
}

func accepting(m *keys.Manager, a loader.Args) func(keys.Groups) (keys.Change, error) {
	inc := keys.Include{Rejected: a.Bool("include_rejected"), Denied: a.Bool("include_denied")}
	return func(sel keys.Groups) (keys.Change, error) { return m.Accept(sel, inc) }
}

func rejecting(m *keys.Manager, a loader.Args) func(keys.Groups) (keys.Change, error) {
	inc := keys.Include{Accepted: a.Bool("include_accepted"), Denied: a.Bool("include_denied")}
	return func(sel keys.Groups) (keys.Change, error) { return m.Reject(sel, inc) }
}

func (w *wheel) accept(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	return w.byGlob(m, c, a, accepting(m, a))
}

func (w *wheel) acceptDict(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	return w.byDict(m, c, a, accepting(m, a))
}

func (w *wheel) reject(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	return w.byGlob(m, c, a, rejecting(m, a))
}

func (w *wheel) rejectDict(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	return w.byDict(m, c, a, rejecting(m, a))
}

func (w *wheel) remove(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	return w.byGlob(m, c, a, m.Delete)
}

func (w *wheel) removeDict(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	return w.byDict(m, c, a, m.Delete)
}

func printKeys(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	sel, err := m.Match(globs(a), false)
	if err != nil {
		return nil, err
	}
	texts, err := m.Print(sel)
	if err != nil {
		return nil, err
	}
	return TextsMap(texts), nil
}

// hashType is the argument hash_type, or the option.
func hashType(c *loader.Call, a loader.Args) string {
	if h := a.Str("hash_type"); h != "" {
		return h
	}
	return c.Opts().Str("hash_type")
}

func finger(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	sel, err := m.Match(globs(a), true)
	if err != nil {
		return nil, err
	}
	texts, err := m.Finger(sel, hashType(c, a))
	if err != nil {
		return nil, err
	}
	return TextsMap(texts), nil
}

func fingerMaster(m *keys.Manager, c *loader.Call, a loader.Args) (any, error) {
	_, pem, err := m.MasterPub()
	if err != nil {
		return nil, err
	}
	text, err := keys.Fingerprint(pem, hashType(c, a))
	if err != nil {
		return nil, err
	}
	return payload.M("local", payload.M("master.pub", text)), nil
}

func masterKey(m *keys.Manager, _ *loader.Call, _ loader.Args) (any, error) {
	name, pem, err := m.MasterPub()
	if err != nil {
		return nil, err
	}
	return payload.M("local", payload.M(name, pem)), nil
}
