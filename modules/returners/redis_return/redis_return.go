// Package redis_return is the returner redis: it keeps returns and jobs in a Redis server or cluster. Answers to
// salt/returners/redis_return.py.
package redis_return

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/modules/redisdb"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// wanted is where the returner finds its options. Source: salt/returners/redis_return.py, _get_options.
var wanted = options.Lookup{Name: "redis", Options: []string{"host", "port", "unix_socket_path", "db", "password",
	"cluster_mode", "cluster.startup_nodes", "cluster.skip_full_coverage_check"}}

// Keys of the returner: a hash of a job's returns by minion, its load, the set of all minions; MINION:FUN holds the
// last job id of a function.
const (
	returnsKey = "ret:"
	loadKey    = "load:"
	minionsKey = "minions"
	batchSize  = 256 // commands sent at once
)

// Module is the returner redis.
func Module() loader.Module {
	return loader.Module{File: "redis_return", Name: "redis", Aliases: []string{"redis_return"}, Virtual: loader.Always,
		Funcs: declared}
}

func declared() []loader.Func {
	return []loader.Func{
		functions.Returner("redis", "Keep the return in a Redis server.", take),
		functions.SaveLoad(save),
		functions.SaveMinions(),
		functions.ByJID("get_load", "Show the load of a job.", asking(getLoad)),
		functions.ByJID("get_jid", "Show the returns of a job.", asking(getJID)),
		functions.GetFun(asking(getFun)),
		functions.Plain("get_jids", "Show all jobs.", func(c *loader.Call) (any, error) { return ask(c, getJIDs) }),
		functions.Plain("get_minions", "Show the minions that have returned something.",
			func(c *loader.Call) (any, error) { return ask(c, getMinions) }),
		functions.Plain("clean_old_jobs", "Remove the returns of jobs whose loads are gone.",
			func(c *loader.Call) (any, error) { return ask(c, clean) }),
		functions.PrepJID(),
	}
}

// asking is a function that asks a server about a name.
func asking(get func(ctx context.Context, db redisdb.Client, name string) (any, error)) func(c *loader.Call,
	name string) (any, error) {
	return func(c *loader.Call, name string) (any, error) {
		return ask(c, func(ctx context.Context, db redisdb.Client) (any, error) { return get(ctx, db, name) })
	}
}

// serverOf is the server that the options name.
func serverOf(c *loader.Call, ret *payload.Map) (redisdb.Options, error) {
	opt, err := wanted.Read(c, ret)
	if err == nil {
		err = wanted.Guard(c, ret, "host", "port", "unix_socket_path", "cluster_mode", "startup_nodes",
			"cluster.startup_nodes")
	}
	if err != nil {
		return redisdb.Options{}, err
	}
	o := redisdb.Options{Host: opt.Text("host"), Socket: opt.Text("unix_socket_path"), Password: opt.Text("password")}
	if python.Truth(opt["cluster_mode"]) {
		o.Nodes, err = nodes(opt)
		return o, err
	}
	if o.DB, err = number(opt, "db", 0); err != nil {
		return o, err
	}
	o.Port, err = number(opt, "port", 6379)
	return o, err
}

func number(opt options.Values, name string, or int) (int, error) {
	text := strings.TrimSpace(opt.Text(name))
	if text == "" {
		return or, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, returners.Misset("redis: the option %s is no number: %q", name, text)
	}
	return n, nil
}

// nodes are the members of a cluster. ret_kwargs give them as startup_nodes, as in Salt.
func nodes(opt options.Values) ([]string, error) {
	v, ok := opt["startup_nodes"]
	if !ok {
		v = opt["cluster.startup_nodes"]
	}
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		m, ok := item.(*payload.Map)
		if !ok || returners.Word(m, "host") == "None" {
			return nil, returners.Misset("redis: cluster.startup_nodes wants maps of host and port, not %s", python.Repr(item))
		}
		port := "7000" // redis-py-cluster's
		if p, ok := m.Get("port"); ok {
			port = python.Str(p)
		}
		out = append(out, net.JoinHostPort(returners.Word(m, "host"), port))
	}
	if len(out) == 0 {
		return nil, returners.Misset("redis: cluster_mode wants members of the cluster in cluster.startup_nodes")
	}
	return out, nil
}

func ask(c *loader.Call, ask func(ctx context.Context, db redisdb.Client) (any, error)) (out any, err error) {
	o, err := serverOf(c, nil)
	if err != nil {
		return nil, err
	}
	err = redisdb.With(c.Ctx, o, func(ctx context.Context, db redisdb.Client) (err error) {
		out, err = ask(ctx, db)
		return err
	})
	return out, err
}

// take writes one return.
// Unlike Salt: with keep_jobs_seconds 0 nothing expires, where Salt's commands fail half way; and a minion called "ret"
// or "load" has no key that is another job's.
func take(c *loader.Call, ret *payload.Map) error {
	o, err := serverOf(c, ret)
	if err != nil {
		return err
	}
	ttl, err := options.KeepJobs(c.Opts())
	if err != nil {
		return err
	}
	text, err := returners.Dump("redis", ret)
	if err != nil {
		return err
	}
	minion, jid := returners.Word(ret, "id"), returners.Word(ret, "jid")
	last := minion + ":" + returners.Word(ret, "fun")
	if strings.HasPrefix(last, returnsKey) || strings.HasPrefix(last, loadKey) {
		return returners.Refuse("redis: the return of minion %s would overwrite another job", python.Repr(minion))
	}
	return redisdb.With(c.Ctx, o, func(ctx context.Context, db redisdb.Client) error {
		p := db.Pipeline()
		p.HSet(ctx, returnsKey+jid, minion, text)
		if ttl > 0 {
			p.Expire(ctx, returnsKey+jid, ttl)
		}
		p.Set(ctx, last, jid, ttl)
		p.SAdd(ctx, minionsKey, minion)
		_, err := p.Exec(ctx)
		return err
	})
}

func save(c *loader.Call, jid string, load any) error {
	ttl, err := options.KeepJobs(c.Opts())
	if err != nil {
		return err
	}
	text, err := returners.Dump("redis", load)
	if err != nil {
		return err
	}
	_, err = ask(c, func(ctx context.Context, db redisdb.Client) (any, error) {
		return nil, db.Set(ctx, loadKey+jid, text, ttl).Err()
	})
	return err
}

func getLoad(ctx context.Context, db redisdb.Client, jid string) (any, error) {
	text, err := db.Get(ctx, loadKey+jid).Result()
	if errors.Is(err, redisdb.Nil) || err == nil && text == "" {
		return payload.NewMap(0), nil
	}
	if err != nil {
		return nil, err
	}
	return returners.Load(loadKey+jid, text)
}

func getJID(ctx context.Context, db redisdb.Client, jid string) (any, error) {
	returns, err := db.HGetAll(ctx, returnsKey+jid).Result()
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(len(returns))
	for minion, text := range returns {
		if err := put(out, minion, returnsKey+jid, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// put reads a return, if there is one.
func put(out *payload.Map, minion, where, text string) error {
	if text == "" {
		return nil
	}
	v, err := returners.Load(where, text)
	if err == nil {
		out.Set(minion, v)
	}
	return err
}

// getFun finds the last job of a function on each minion, then its return there.
func getFun(ctx context.Context, db redisdb.Client, fun string) (any, error) {
	minions, err := db.SMembers(ctx, minionsKey).Result()
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, batch := range batches(minions) {
		jids, err := texts(ctx, db, batch, func(p pipe, minion string) reply {
			return p.Get(ctx, minion+":"+fun)
		})
		if err != nil {
			return nil, err
		}
		asked := batch[:0:0]
		last := map[string]string{}
		for i, jid := range jids {
			if jid != "" {
				asked, last[batch[i]] = append(asked, batch[i]), jid
			}
		}
		texts, err := texts(ctx, db, asked, func(p pipe, minion string) reply {
			return p.HGet(ctx, returnsKey+last[minion], minion)
		})
		if err != nil {
			return nil, err
		}
		for i, text := range texts {
			if err := put(out, asked[i], returnsKey+last[asked[i]], text); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// getJIDs shows all jobs.
// Unlike Salt: what is no load of a job is left out, where Salt shows no job at all.
func getJIDs(ctx context.Context, db redisdb.Client) (any, error) {
	out := payload.NewMap(0)
	err := redisdb.EachKey(ctx, db, loadKey+"*", func(keys []string) error {
		for _, batch := range batches(keys) {
			texts, err := texts(ctx, db, batch, func(p pipe, key string) reply { return p.Get(ctx, key) })
			if err != nil {
				return err
			}
			for i, text := range texts {
				v, _ := returners.Load(batch[i], text) // "" where it has expired since
				if load, ok := v.(*payload.Map); ok && load.Has("jid") {
					out.Set(load.Value("jid"), jobrecord.Dated(returners.Word(load, "jid"), load))
				}
			}
		}
		return nil
	})
	return out, err
}

func getMinions(ctx context.Context, db redisdb.Client) (any, error) {
	minions, err := db.SMembers(ctx, minionsKey).Result()
	out := make([]any, len(minions))
	for i, m := range minions {
		out[i] = m
	}
	return out, err
}

// clean removes returns without a load: a late return gives the others of its job more time than the load has.
func clean(ctx context.Context, db redisdb.Client) (any, error) {
	return nil, redisdb.EachKey(ctx, db, returnsKey+"*", func(keys []string) error {
		for _, batch := range batches(keys) {
			p := db.Pipeline()
			for _, key := range batch {
				p.Exists(ctx, loadKey+strings.TrimPrefix(key, returnsKey))
			}
			found, err := p.Exec(ctx)
			if err != nil {
				return err
			}
			gone := db.Pipeline()
			for i, cmd := range found {
				if n, ok := cmd.(interface{ Val() int64 }); ok && n.Val() == 0 {
					gone.Del(ctx, batch[i])
				}
			}
			if _, err := gone.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// pipe and reply are what texts needs of a pipeline and of a command.
type (
	pipe  = redisdb.Pipeliner
	reply = *redisdb.StringCmd
)

// texts asks for a text by each name; "" for one that is not there, or is no text.
func texts(ctx context.Context, db redisdb.Client, names []string, ask func(p pipe, name string) reply) (
	[]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	p := db.Pipeline()
	asked := make([]reply, len(names))
	for i, name := range names {
		asked[i] = ask(p, name)
	}
	_, _ = p.Exec(ctx) // its error is that of the first command that has one
	out := make([]string, len(names))
	for i, cmd := range asked {
		if err := cmd.Err(); err != nil && !errors.Is(err, redisdb.Nil) && !redisdb.WrongType(err) {
			return nil, err
		}
		out[i] = cmd.Val()
	}
	return out, nil
}

// batches cuts names into parts of at most batchSize.
func batches(names []string) [][]string {
	var out [][]string
	for len(names) > batchSize {
		out, names = append(out, names[:batchSize]), names[batchSize:]
	}
	if len(names) > 0 {
		out = append(out, names)
	}
	return out
}
