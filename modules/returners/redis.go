package returners

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/modules/redisdb"
	"brine/wire/payload"
	"brine/wire/python"
)

// redisOptions is where the returner finds its options. Source: salt/returners/redis_return.py, _get_options.
var redisOptions = lookup{name: "redis", options: []string{"host", "port", "unix_socket_path", "db", "password",
	"cluster_mode", "cluster.startup_nodes", "cluster.skip_full_coverage_check"}}

// Keys of the returner: a hash of a job's returns by minion, its load, the set of all minions; MINION:FUN holds the
// last job id of a function.
const (
	redisReturns = "ret:"
	redisLoad    = "load:"
	redisMinions = "minions"
	redisBatch   = 256 // commands sent at once
)

// redisFunctions keep returns and jobs in a Redis server or cluster.
func redisFunctions() []loader.Func {
	const name = "redis"
	return aliases([]loader.Func{
		taker(name, `Keep the return in a Redis server.

CLI Example:

    salt '*' test.ping --return redis`, redisTake),
		saver(name, redisSave),
		minionSaver(name),
		byJID(name, "get_load", "Show the load of a job.", func(c *loader.Call, jid string) (any, error) {
			return redisAsk(c, func(ctx context.Context, db redisdb.Client) (any, error) {
				return redisGetLoad(ctx, db, jid)
			})
		}),
		byJID(name, "get_jid", "Show the returns of a job.", func(c *loader.Call, jid string) (any, error) {
			return redisAsk(c, func(ctx context.Context, db redisdb.Client) (any, error) {
				return redisGetJID(ctx, db, jid)
			})
		}),
		byFun(name, func(c *loader.Call, fun string) (any, error) {
			return redisAsk(c, func(ctx context.Context, db redisdb.Client) (any, error) {
				return redisGetFun(ctx, db, fun)
			})
		}),
		plain(name, "get_jids", "Show all jobs.", func(c *loader.Call) (any, error) {
			return redisAsk(c, redisGetJIDs)
		}),
		plain(name, "get_minions", "Show the minions that have returned something.", func(c *loader.Call) (any, error) {
			return redisAsk(c, redisGetMinions)
		}),
		plain(name, "clean_old_jobs", "Remove the returns of jobs whose loads are gone.", func(c *loader.Call) (any,
			error) {
			return redisAsk(c, redisClean)
		}),
		jidMaker(name),
	}, "redis_return")
}

// redisServer is the server that the options name.
func redisServer(c *loader.Call, ret *payload.Map) (redisdb.Options, error) {
	opt, err := redisOptions.read(c, ret)
	if err == nil {
		err = redisOptions.guard(c, ret, "host", "port", "unix_socket_path", "cluster_mode", "startup_nodes",
			"cluster.startup_nodes")
	}
	if err != nil {
		return redisdb.Options{}, err
	}
	o := redisdb.Options{Host: opt.text("host"), Socket: opt.text("unix_socket_path"), Password: opt.text("password")}
	if python.Truth(opt["cluster_mode"]) {
		o.Nodes, err = redisNodes(opt)
		return o, err
	}
	if o.DB, err = redisNumber(opt, "db", 0); err != nil {
		return o, err
	}
	o.Port, err = redisNumber(opt, "port", 6379)
	return o, err
}

func redisNumber(opt settings, name string, or int) (int, error) {
	text := strings.TrimSpace(opt.text(name))
	if text == "" {
		return or, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, misset("redis: the option %s is no number: %q", name, text)
	}
	return n, nil
}

// redisNodes are the members of a cluster. ret_kwargs give them as startup_nodes, as in Salt.
func redisNodes(opt settings) ([]string, error) {
	v, ok := opt["startup_nodes"]
	if !ok {
		v = opt["cluster.startup_nodes"]
	}
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		m, ok := item.(*payload.Map)
		if !ok || word(m, "host") == "None" {
			return nil, misset("redis: cluster.startup_nodes wants maps of host and port, not %s", python.Repr(item))
		}
		port := "7000" // redis-py-cluster's
		if p, ok := m.Get("port"); ok {
			port = python.Str(p)
		}
		out = append(out, net.JoinHostPort(word(m, "host"), port))
	}
	if len(out) == 0 {
		return nil, misset("redis: cluster_mode wants members of the cluster in cluster.startup_nodes")
	}
	return out, nil
}

func redisAsk(c *loader.Call, ask func(ctx context.Context, db redisdb.Client) (any, error)) (out any, err error) {
	o, err := redisServer(c, nil)
	if err != nil {
		return nil, err
	}
	err = redisdb.With(c.Ctx, o, func(ctx context.Context, db redisdb.Client) (err error) {
		out, err = ask(ctx, db)
		return err
	})
	return out, err
}

// redisTake writes one return.
// Unlike Salt: with keep_jobs_seconds 0 nothing expires, where Salt's commands fail half way; and a minion called "ret"
// or "load" has no key that is another job's.
func redisTake(c *loader.Call, ret *payload.Map) error {
	o, err := redisServer(c, ret)
	if err != nil {
		return err
	}
	ttl, err := keepJobs(c.Opts())
	if err != nil {
		return err
	}
	text, err := dumps("redis", ret)
	if err != nil {
		return err
	}
	minion, jid := word(ret, "id"), word(ret, "jid")
	last := minion + ":" + word(ret, "fun")
	if strings.HasPrefix(last, redisReturns) || strings.HasPrefix(last, redisLoad) {
		return unusable("redis: the return of minion %s would overwrite another job", python.Repr(minion))
	}
	return redisdb.With(c.Ctx, o, func(ctx context.Context, db redisdb.Client) error {
		p := db.Pipeline()
		p.HSet(ctx, redisReturns+jid, minion, text)
		if ttl > 0 {
			p.Expire(ctx, redisReturns+jid, ttl)
		}
		p.Set(ctx, last, jid, ttl)
		p.SAdd(ctx, redisMinions, minion)
		_, err := p.Exec(ctx)
		return err
	})
}

func redisSave(c *loader.Call, jid string, load any) error {
	ttl, err := keepJobs(c.Opts())
	if err != nil {
		return err
	}
	text, err := dumps("redis", load)
	if err != nil {
		return err
	}
	_, err = redisAsk(c, func(ctx context.Context, db redisdb.Client) (any, error) {
		return nil, db.Set(ctx, redisLoad+jid, text, ttl).Err()
	})
	return err
}

func redisGetLoad(ctx context.Context, db redisdb.Client, jid string) (any, error) {
	text, err := db.Get(ctx, redisLoad+jid).Result()
	if errors.Is(err, redisdb.Nil) || err == nil && text == "" {
		return payload.NewMap(0), nil
	}
	if err != nil {
		return nil, err
	}
	return loads(redisLoad+jid, text)
}

func redisGetJID(ctx context.Context, db redisdb.Client, jid string) (any, error) {
	returns, err := db.HGetAll(ctx, redisReturns+jid).Result()
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(len(returns))
	for minion, text := range returns {
		if err := redisPut(out, minion, redisReturns+jid, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// redisPut reads a return, if there is one.
func redisPut(out *payload.Map, minion, where, text string) error {
	if text == "" {
		return nil
	}
	v, err := loads(where, text)
	if err == nil {
		out.Set(minion, v)
	}
	return err
}

// redisGetFun finds the last job of a function on each minion, then its return there.
func redisGetFun(ctx context.Context, db redisdb.Client, fun string) (any, error) {
	minions, err := db.SMembers(ctx, redisMinions).Result()
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, batch := range batches(minions) {
		jids, err := redisTexts(ctx, db, batch, func(p redisPipe, minion string) redisText {
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
		texts, err := redisTexts(ctx, db, asked, func(p redisPipe, minion string) redisText {
			return p.HGet(ctx, redisReturns+last[minion], minion)
		})
		if err != nil {
			return nil, err
		}
		for i, text := range texts {
			if err := redisPut(out, asked[i], redisReturns+last[asked[i]], text); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// redisGetJIDs shows all jobs.
// Unlike Salt: what is no load of a job is left out, where Salt shows no job at all.
func redisGetJIDs(ctx context.Context, db redisdb.Client) (any, error) {
	out := payload.NewMap(0)
	err := redisdb.EachKey(ctx, db, redisLoad+"*", func(keys []string) error {
		for _, batch := range batches(keys) {
			texts, err := redisTexts(ctx, db, batch, func(p redisPipe, key string) redisText { return p.Get(ctx, key) })
			if err != nil {
				return err
			}
			for i, text := range texts {
				v, _ := loads(batch[i], text) // "" where it has expired since
				if load, ok := v.(*payload.Map); ok && load.Has("jid") {
					out.Set(load.Value("jid"), jobrecord.Dated(word(load, "jid"), load))
				}
			}
		}
		return nil
	})
	return out, err
}

func redisGetMinions(ctx context.Context, db redisdb.Client) (any, error) {
	minions, err := db.SMembers(ctx, redisMinions).Result()
	out := make([]any, len(minions))
	for i, m := range minions {
		out[i] = m
	}
	return out, err
}

// redisClean removes returns without a load: a late return gives the others of its job more time than the load has.
func redisClean(ctx context.Context, db redisdb.Client) (any, error) {
	return nil, redisdb.EachKey(ctx, db, redisReturns+"*", func(keys []string) error {
		for _, batch := range batches(keys) {
			p := db.Pipeline()
			for _, key := range batch {
				p.Exists(ctx, redisLoad+strings.TrimPrefix(key, redisReturns))
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

// redisPipe and redisText are what redisTexts needs of a pipeline and of a command.
type (
	redisPipe = redisdb.Pipeliner
	redisText = *redisdb.StringCmd
)

// redisTexts asks for a text by each name; "" for one that is not there, or is no text.
func redisTexts(ctx context.Context, db redisdb.Client, names []string, ask func(p redisPipe, name string) redisText) (
	[]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	p := db.Pipeline()
	asked := make([]redisText, len(names))
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

// batches cuts names into parts of at most redisBatch.
func batches(names []string) [][]string {
	var out [][]string
	for len(names) > redisBatch {
		out, names = append(out, names[:redisBatch]), names[redisBatch:]
	}
	if len(names) > 0 {
		out = append(out, names)
	}
	return out
}
