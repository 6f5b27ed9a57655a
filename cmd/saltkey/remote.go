package saltkey

import (
	"context"
	"errors"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/modules/fleet/keys"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/python"
)

// wheel calls a wheel function of the master, with the credentials of --auth or the token file.
func (k *keyTool) wheel(fun string, arg []any, kw *payload.Map) (any, error) {
	ctx := context.Background() // the client limits the time of each request
	c := masterlink.NewClient(k.Session)
	cred, err := masterlink.JobCredentials(ctx, k.Session, c)
	if errors.Is(err, masterlink.ErrNoAuth) {
		return nil, errors.New("Authentication failed")
	}
	if err != nil {
		return nil, err
	}
	ret, err := c.Wheel(ctx, client.Call{Fun: fun, Arg: arg, KWArg: kw, Credentials: cred})
	if err != nil {
		return nil, masterlink.ClientError(k.Session, err)
	}
	if good, _ := ret.Success(); good && ret.HasValue() {
		return ret.Value(), nil
	}
	return nil, errors.New(python.Str(ret.Value()))
}

// showRemote displays the answer of a wheel function about keys.
func (k *keyTool) showRemote(fun, match string) error {
	ret, err := k.wheel(fun, []any{match}, nil)
	if err != nil {
		return err
	}
	groups, ok := ret.(*payload.Map)
	if !ok {
		return display.Show(k.Session, payload.M("return", ret), display.How{Out: "key"})
	}
	without := "local"
	if fun == "key.finger" {
		without = ""
	}
	return k.show(groups, without)
}

// matchRemote asks the master which keys match a pattern.
func (k *keyTool) matchRemote(globs string) (keys.Groups, error) {
	ret, err := k.wheel("key.glob_match", []any{globs}, nil)
	if err != nil {
		return nil, err
	}
	groups, ok := ret.(*payload.Map)
	if !ok {
		return nil, errors.New(python.Str(ret))
	}
	return groupsOf(groups), nil
}

// groupsOf reads keys, grouped by status.
func groupsOf(m *payload.Map) keys.Groups {
	var out keys.Groups
	for status := range m.All() {
		g := keys.Group{Status: keys.Status(python.Str(status))}
		for _, id := range m.List(python.Str(status)) {
			g.IDs = append(g.IDs, python.Str(id))
		}
		out = append(out, g)
	}
	return out
}

// changeRemote lets the master accept, reject or delete the selected keys. verb is as in change. The master
// fires the events. It does not say which keys did not exist.
func (k *keyTool) changeRemote(verb string, sel keys.Groups, inc keys.Include) (keys.Change, error) {
	fun, kw := "key."+verb+"_dict", payload.NewMap(2)
	switch verb {
	case "accept":
		kw.Set("include_rejected", inc.Rejected).Set("include_denied", inc.Denied)
	case "reject":
		kw.Set("include_accepted", inc.Accepted).Set("include_denied", inc.Denied)
	default:
		fun = "key.delete_dict"
	}
	byStatus := payload.NewMap(len(sel))
	var done keys.Change
	for _, g := range sel {
		byStatus.Set(string(g.Status), payload.AnyList(g.IDs))
		done.IDs = append(done.IDs, g.IDs...)
	}
	if _, err := k.wheel(fun, []any{byStatus}, kw); err != nil {
		return keys.Change{}, err
	}
	return done, nil
}
