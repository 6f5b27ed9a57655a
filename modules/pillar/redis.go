package pillar

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/modules/redisdb"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// redisMost is how many bytes a key of a Redis server may hold for one pillar. Salt has no bound.
const redisMost = 16 << 20

const redisMoment = 10 * time.Millisecond

// redisExt reads the key of a Redis server that is called as the minion (salt/pillar/redismod.py of 3007; 3008 has it
// in an extension).
//
// Unlike Salt, which gives nothing then: a function that there is not is an error of the pillar.
func redisExt(e *extCall) (any, error) {
	name, ok := e.args["function"].(string)
	if !ok {
		return nil, noAttribute(e.args["function"], "startswith")
	}
	read := map[string]func(context.Context, redisdb.Client, string, any) (any, error){"key_value": redisValue,
		"key_json": redisJSON}[name]
	if read == nil {
		return nil, loader.ExecErr("there is no function %s: redis has key_value and key_json", python.Repr(name))
	}
	var under any
	if name == "key_value" {
		under = "redis_pillar"
	}
	for key, v := range e.kw.All() {
		if key != any("pillar_key") {
			return nil, &loader.ArgumentError{Message: name + "() got an unexpected keyword argument " + python.Repr(
				key)}
		}
		under = v
	}
	opt, err := e.redisOptions()
	if err != nil {
		return nil, err
	}
	var out any
	var failed error // told as it is: With would put the server before it
	err = redisdb.With(e.ctx, opt, func(ctx context.Context, c redisdb.Client) error {
		out, failed = read(ctx, c, e.q.ID, under)
		return nil
	})
	if at, ok := e.ctx.Deadline(); ok && failed != nil && time.Until(at) < redisMoment {
		<-e.ctx.Done() // connections end at the same time, and may be a moment earlier
		return nil, context.Cause(e.ctx)
	}
	return out, errors.Join(failed, err)
}

// redisOptions are redis.host, redis.port, redis.db and redis.password of the master.
func (e *extCall) redisOptions() (redisdb.Options, error) {
	at := redisdb.Options{Host: "salt", Port: 6379, Password: ""}
	if v, ok := e.opts.Get("redis.host"); ok {
		at.Host = python.Str(v)
	}
	if strings.HasPrefix(at.Host, "/") {
		at.Socket = at.Host // Unlike Salt: a path is that of a Unix socket
	}
	for name, to := range map[string]*int{"redis.port": &at.Port, "redis.db": &at.DB} {
		if v, ok := e.opts.Get(name); ok {
			n, err := strconv.Atoi(python.Str(v))
			if err != nil || n < 0 || n > 1<<16 {
				return at, loader.ExecErr("the option %s is %s and no number", name, python.Repr(v))
			}
			*to = n
		}
	}
	if v, ok := e.opts.Get("redis.password"); ok && v != nil {
		at.Password = python.Str(v)
	}
	return at, nil
}

// redisValue is what a key holds, by its kind, under a name: a text, a map or a list. Sets are in order.
func redisValue(ctx context.Context, c redisdb.Client, key string, under any) (any, error) {
	kind, err := c.Type(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	if kind != "none" {
		size, err := c.MemoryUsage(ctx, key, 0).Result()
		if err == nil && size > redisMost {
			return nil, loader.ExecErr("the key %s holds more than %d bytes", python.Repr(key), redisMost)
		}
	}
	none := payload.NewMap(0)
	var list []string
	switch kind {
	case "string":
		text, err := redisText(c.Get(ctx, key).Result())
		return payload.M(under, text), err
	case "hash":
		m, err := redisHash(ctx, c, key)
		return payload.M(under, m), err
	case "list":
		list, err = c.LRange(ctx, key, 0, -1).Result()
	case "set":
		list, err = c.SMembers(ctx, key).Result()
		slices.Sort(list)
	case "zset":
		list, err = c.ZRange(ctx, key, 0, -1).Result()
	default:
		return none, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, text := range list {
		if out[i], err = redisText(text, nil); err != nil {
			return nil, err
		}
	}
	return payload.M(under, out), nil
}

// redisHash is a hash in the order of the server.
func redisHash(ctx context.Context, c redisdb.Client, key string) (*payload.Map, error) {
	v, err := c.Do(ctx, "HGETALL", key).StringSlice()
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(len(v) / 2)
	for i := 0; i+1 < len(v); i += 2 {
		for _, text := range v[i : i+2] {
			if _, err := redisText(text, nil); err != nil {
				return nil, err
			}
		}
		out.Set(v[i], v[i+1])
	}
	return out, nil
}

// redisText is a text of a server, which must be UTF-8.
func redisText(text string, err error) (any, error) {
	if err == nil && !utf8.ValidString(text) {
		return nil, loader.Raise("UnicodeDecodeError", "%s", python.UTF8Error([]byte(text)))
	}
	return text, err
}

// redisJSON is the JSON of a key: a map, or what there is under a name.
func redisJSON(ctx context.Context, c redisdb.Client, key string, under any) (any, error) {
	if size, err := c.StrLen(ctx, key).Result(); err == nil && size > redisMost {
		return nil, loader.ExecErr("the key %s holds more than %d bytes", python.Repr(key), redisMost)
	}
	text, err := c.Get(ctx, key).Result()
	if errors.Is(err, redisdb.Nil) || err == nil && text == "" {
		return payload.NewMap(0), nil
	}
	if _, err := redisText(text, err); err != nil {
		return nil, err
	}
	v, err := pyjson.Load(text)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(*payload.Map); ok && !python.Truth(under) {
		return m, nil
	}
	if !python.Truth(under) {
		under = "redis_pillar"
	}
	return payload.M(under, v), nil
}
