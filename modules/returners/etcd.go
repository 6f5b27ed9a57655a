package returners

import (
	"fmt"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

const (
	etcdName = "etcd"
	etcdRoot = "/salt/return"
	etcdLoad = ".load.p" // beside the minions of a job
)

// etcdFunctions keep returns and jobs in etcd: ROOT/minions/ID is the last job id of a minion, ROOT/jobs/JID/ID/FIELD a
// field of a return in JSON, ROOT/jobs/JID/.load.p the load of a job. Source: salt/returners/etcd_return.py.
func etcdFunctions() []loader.Func {
	return []loader.Func{
		taker(etcdName, `Keep the return in etcd.

CLI Example:

    salt '*' test.ping --return etcd`, etcdTake),
		saver(etcdName, etcdSave),
		minionSaver(etcdName),
		byJID(etcdName, "get_load", "Show the load of a job.", etcdGetLoad),
		byJID(etcdName, "get_jid", "Show the returns of a job.", etcdGetJID),
		byFun(etcdName, etcdGetFun),
		plain(etcdName, "get_jids", "Show the ids of all jobs.", etcdGetJIDs),
		plain(etcdName, "get_minions", "Show the minions that have returned something.", etcdGetMinions),
		plain(etcdName, "clean_old_jobs", "Does nothing: etcd.ttl makes jobs go.", func(*loader.Call) (any, error) {
			return nil, nil
		}),
		jidMaker(etcdName),
	}
}

// etcdPart refuses what would leave its place among the keys. Unlike Salt: minions say what the fields of a return are
// called.
func etcdPart(v any) (string, error) {
	text := python.Str(v)
	if text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\x00") {
		return "", unusable("etcd: %q can be no part of a key", text)
	}
	return text, nil
}

// etcdTake writes one return.
func etcdTake(c *loader.Call, ret *payload.Map) error {
	jid, err := etcdPart(ret.Value("jid"))
	if err != nil {
		return err
	}
	id, err := etcdPart(ret.Value("id"))
	if err != nil {
		return err
	}
	pairs := []etcdPair{{"minions/" + id, jid}}
	for k, v := range ret.All() {
		field, err := etcdPart(k)
		if err != nil {
			return err
		}
		text, err := dumps(etcdName, v)
		if err != nil {
			return err
		}
		pairs = append(pairs, etcdPair{"jobs/" + jid + "/" + id + "/" + field, text})
	}
	return withEtcd(c, "etcd.returner_write_profile", func(s *etcdServer) error { return s.write(pairs) })
}

func etcdSave(c *loader.Call, jid string, load any) error {
	part, err := etcdPart(jid)
	if err != nil {
		return err
	}
	text, err := dumps(etcdName, load)
	if err != nil {
		return err
	}
	return withEtcd(c, "etcd.returner_write_profile", func(s *etcdServer) error {
		return s.write([]etcdPair{{"jobs/" + part + "/" + etcdLoad, text}})
	})
}

// etcdGetLoad gives a load, an empty one where there is none. Unlike Salt, which fails then.
func etcdGetLoad(c *loader.Call, jid string) (any, error) {
	part, err := etcdPart(jid)
	if err != nil {
		return nil, err
	}
	var out any = payload.NewMap(0)
	err = withEtcd(c, "etcd.returner_read_profile", func(s *etcdServer) error {
		text, ok, err := s.read("jobs/" + part + "/" + etcdLoad)
		if ok {
			out, err = loads("the load of job "+jid, text)
		}
		return err
	})
	return out, err
}

// etcdTree reads all below a key.
func etcdTree(c *loader.Call, key string, use func(s *etcdServer, tree *payload.Map) error) error {
	return withEtcd(c, "", func(s *etcdServer) error {
		tree, err := s.tree(key)
		if err != nil {
			return err
		}
		return use(s, tree)
	})
}

func etcdGetJID(c *loader.Call, jid string) (any, error) {
	part, err := etcdPart(jid)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	err = etcdTree(c, "jobs/"+part, func(_ *etcdServer, tree *payload.Map) error {
		for id, v := range tree.All() {
			fields, ok := v.(*payload.Map)
			if !ok || !fields.Has("return") {
				continue // the load, or a return that is being written
			}
			value, err := loads("the return of "+python.Str(id), fields.Str("return"))
			if err != nil {
				return err
			}
			out.Set(id, payload.M("return", value))
		}
		return nil
	})
	return out, err
}

// etcdGetFun gives the name of the function for each minion whose last job it was, as Salt does.
func etcdGetFun(c *loader.Call, fun string) (any, error) {
	out := payload.NewMap(0)
	err := etcdTree(c, "minions", func(s *etcdServer, tree *payload.Map) error {
		for id, jid := range tree.All() {
			text, ok, err := s.read(fmt.Sprintf("jobs/%s/%s/fun", python.Str(jid), python.Str(id)))
			if err != nil {
				return err
			}
			if v, err := loads("the function", text); ok && err == nil && v == any(fun) {
				out.Set(id, fun)
			}
		}
		return nil
	})
	return out, err
}

func etcdGetJIDs(c *loader.Call) (any, error) {
	out := []any{}
	err := etcdTree(c, "jobs", func(_ *etcdServer, tree *payload.Map) error {
		for jid, v := range tree.All() {
			if _, ok := v.(*payload.Map); ok {
				out = append(out, jid)
			}
		}
		return nil
	})
	return out, err
}

func etcdGetMinions(c *loader.Call) (any, error) {
	out := []any{}
	err := etcdTree(c, "minions", func(_ *etcdServer, tree *payload.Map) error {
		out = append(out, tree.Keys()...)
		return nil
	})
	return out, err
}
