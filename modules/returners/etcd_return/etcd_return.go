// Package etcd_return is the returner etcd: it keeps returns and jobs in etcd. ROOT/minions/ID is the last job id of a
// minion, ROOT/jobs/JID/ID/FIELD a field of a return in JSON, ROOT/jobs/JID/.load.p the load of a job. Answers to
// salt/returners/etcd_return.py.
package etcd_return

import (
	"fmt"
	"strings"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/wire/payload"
	"brine/wire/python"
)

const (
	returnerName = "etcd"
	defaultRoot  = "/salt/return"
	loadKey      = ".load.p" // beside the minions of a job
)

// Module is the returner etcd.
func Module() loader.Module {
	return loader.Module{File: "etcd_return", Name: returnerName, Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			functions.Returner(returnerName, "Keep the return in etcd.", take),
			functions.SaveLoad(save),
			functions.SaveMinions(),
			functions.ByJID("get_load", "Show the load of a job.", getLoad),
			functions.ByJID("get_jid", "Show the returns of a job.", getJID),
			functions.GetFun(getFun),
			functions.Plain("get_jids", "Show the ids of all jobs.", getJIDs),
			functions.Plain("get_minions", "Show the minions that have returned something.", getMinions),
			functions.Plain("clean_old_jobs", "Does nothing: etcd.ttl makes jobs go.",
				func(*loader.Call) (any, error) { return nil, nil }),
			functions.PrepJID(),
		}
	}}
}

// part refuses what would leave its place among the keys. Unlike Salt: minions say what the fields of a return are
// called.
func part(v any) (string, error) {
	text := python.Str(v)
	if text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\x00") {
		return "", returners.Refuse("etcd: %q can be no part of a key", text)
	}
	return text, nil
}

// take writes one return.
func take(c *loader.Call, ret *payload.Map) error {
	jid, err := part(ret.Value("jid"))
	if err != nil {
		return err
	}
	id, err := part(ret.Value("id"))
	if err != nil {
		return err
	}
	pairs := []pair{{"minions/" + id, jid}}
	for k, v := range ret.All() {
		field, err := part(k)
		if err != nil {
			return err
		}
		text, err := returners.Dump(returnerName, v)
		if err != nil {
			return err
		}
		pairs = append(pairs, pair{"jobs/" + jid + "/" + id + "/" + field, text})
	}
	return with(c, "etcd.returner_write_profile", func(s *server) error { return s.write(pairs) })
}

func save(c *loader.Call, jid string, load any) error {
	part, err := part(jid)
	if err != nil {
		return err
	}
	text, err := returners.Dump(returnerName, load)
	if err != nil {
		return err
	}
	return with(c, "etcd.returner_write_profile", func(s *server) error {
		return s.write([]pair{{"jobs/" + part + "/" + loadKey, text}})
	})
}

// getLoad gives a load, an empty one where there is none. Unlike Salt, which fails then.
func getLoad(c *loader.Call, jid string) (any, error) {
	part, err := part(jid)
	if err != nil {
		return nil, err
	}
	var out any = payload.NewMap(0)
	err = with(c, "etcd.returner_read_profile", func(s *server) error {
		text, ok, err := s.read("jobs/" + part + "/" + loadKey)
		if ok {
			out, err = returners.Load("the load of job "+jid, text)
		}
		return err
	})
	return out, err
}

// tree reads all below a key.
func tree(c *loader.Call, key string, use func(s *server, tree *payload.Map) error) error {
	return with(c, "", func(s *server) error {
		tree, err := s.tree(key)
		if err != nil {
			return err
		}
		return use(s, tree)
	})
}

func getJID(c *loader.Call, jid string) (any, error) {
	part, err := part(jid)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	err = tree(c, "jobs/"+part, func(_ *server, tree *payload.Map) error {
		for id, v := range tree.All() {
			fields, ok := v.(*payload.Map)
			if !ok || !fields.Has("return") {
				continue // the load, or a return that is being written
			}
			value, err := returners.Load("the return of "+python.Str(id), fields.Str("return"))
			if err != nil {
				return err
			}
			out.Set(id, payload.M("return", value))
		}
		return nil
	})
	return out, err
}

// getFun gives the name of the function for each minion whose last job it was, as Salt does.
func getFun(c *loader.Call, fun string) (any, error) {
	out := payload.NewMap(0)
	err := tree(c, "minions", func(s *server, tree *payload.Map) error {
		for id, jid := range tree.All() {
			text, ok, err := s.read(fmt.Sprintf("jobs/%s/%s/fun", python.Str(jid), python.Str(id)))
			if err != nil {
				return err
			}
			if v, err := returners.Load("the function", text); ok && err == nil && v == any(fun) {
				out.Set(id, fun)
			}
		}
		return nil
	})
	return out, err
}

func getJIDs(c *loader.Call) (any, error) {
	out := []any{}
	err := tree(c, "jobs", func(_ *server, tree *payload.Map) error {
		for jid, v := range tree.All() {
			if _, ok := v.(*payload.Map); ok {
				out = append(out, jid)
			}
		}
		return nil
	})
	return out, err
}

func getMinions(c *loader.Call) (any, error) {
	out := []any{}
	err := tree(c, "minions", func(_ *server, tree *payload.Map) error {
		out = append(out, tree.Keys()...)
		return nil
	})
	return out, err
}
