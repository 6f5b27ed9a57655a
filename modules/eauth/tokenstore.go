package eauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"brine/modules/redisdb"
	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// tokenStore keeps tokens by name. Names are hex digits, whoever asks. An error is one of the store; what is not there
// is nil.
type tokenStore interface {
	get(name string) ([]byte, error)
	put(name string, tok *payload.Map) error
	remove(name string) error
	names() ([]string, error) // of those that it does not forget by itself
}

// Drivers are the values of eauth_tokens.cache_driver that are honoured; "" and localfs are files.
const (
	driverFiles   = "localfs"
	driverRedis   = "redis"        // salt/cache/redis_cache.py
	driverCluster = "rediscluster" // salt/tokens/rediscluster.py
)

// newTokenStore makes the store that options name: eauth_tokens.cache_driver, or eauth_tokens as releases before 3008
// have it.
func newTokenStore(opt *Options) tokenStore {
	all := opt.Settings
	driver := all.Str("eauth_tokens.cache_driver")
	switch cmp.Or(driver, all.Str("eauth_tokens")) {
	case driverRedis:
		return newHashTokens(all, opt.Now)
	case driverCluster:
		at := cmp.Or(all.Str("eauth_redis_host"), "localhost") + ":" + strconv.Itoa(number64(all, "eauth_redis_port",
			6379))
		return &clusterTokens{redisdb.Options{Nodes: []string{at}}}
	}
	return fileTokens(opt.TokenDir)
}

func number64(all *payload.Map, key string, def int) int {
	if n, ok := all.Int(key); ok {
		return int(n)
	}
	if n, err := strconv.Atoi(all.Str(key)); err == nil {
		return n
	}
	return def
}

// fileTokens is a directory with a file (mode 0600) for each token, as Salt's token module localfs has it. Those of
// Salt 3008, whose names end in ".p", are read, too.
type fileTokens string

const cacheSuffix = ".p" // of files that Salt's cache keeps

func (d fileTokens) get(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(string(d), name))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = os.ReadFile(filepath.Join(string(d), name+cacheSuffix))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (d fileTokens) put(name string, tok *payload.Map) error {
	b, err := payload.Marshal(tok)
	if err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(string(d), name), b, wholefile.Options{})
}

// aside keeps a damaged token, which is of no use to anybody.
func (d fileTokens) aside(name string) (kept string, err error) {
	for _, file := range []string{name, name + cacheSuffix} {
		if kept, err = setaside.Move(filepath.Join(string(d), file), time.Now()); !errors.Is(err, fs.ErrNotExist) {
			return kept, err
		}
	}
	return "", nil
}

func (d fileTokens) remove(name string) error {
	var errs []error
	for _, file := range []string{name, name + cacheSuffix} {
		if err := os.Remove(filepath.Join(string(d), file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, errors.Unwrap(err)) // without its path, which is the token
		}
	}
	return errors.Join(errs...)
}

func (d fileTokens) names() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), cacheSuffix))
	}
	return out, err
}

// redisPatience is how long a server may take for a token: the request waits.
const redisPatience = 3 * time.Second

func askRedis(o redisdb.Options, use func(ctx context.Context, c redisdb.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), redisPatience)
	defer cancel()
	return redisdb.With(ctx, o, use)
}

// clusterTokens keeps each token under its own name in a cluster of Redis servers, which forgets it when its time is
// over. Salt's tokens stay until its master finds them, among all keys that there are.
type clusterTokens struct{ at redisdb.Options }

func (t *clusterTokens) get(name string) (b []byte, err error) {
	err = askRedis(t.at, func(ctx context.Context, c redisdb.Client) error {
		text, err := c.Get(ctx, name).Result()
		if errors.Is(err, redisdb.Nil) {
			return nil
		}
		b = []byte(text)
		return err
	})
	return b, err
}

func (t *clusterTokens) put(name string, tok *payload.Map) error {
	b, err := payload.Marshal(tok)
	if err != nil {
		return err
	}
	return askRedis(t.at, func(ctx context.Context, c redisdb.Client) error {
		if err := c.Set(ctx, name, b, 0).Err(); err != nil {
			return err
		}
		if end, ok := endOf(tok); ok {
			return c.ExpireAt(ctx, name, end).Err()
		}
		return nil
	})
}

// endOf is the time after which a token is of no use; false when it is too far away to be told.
func endOf(tok *payload.Map) (time.Time, bool) {
	const far = 1 << 36 // seconds since 1970, the year 4147
	expire, ok := number(tok.Value("expire"))
	return time.Unix(int64(math.Ceil(min(expire, far))), 0), ok && expire < far
}

func (t *clusterTokens) remove(name string) error {
	return askRedis(t.at, func(ctx context.Context, c redisdb.Client) error { return c.Del(ctx, name).Err() })
}

func (t *clusterTokens) names() ([]string, error) { return nil, nil }

// hashTokens keeps tokens as Salt's cache driver redis keeps a bank: {token: {data, _expires}} in one hash, times of
// change in another, and the name of the hash in a sorted set (cache.redis.*).
type hashTokens struct {
	at                  redisdb.Options
	banks, bank, stamps string
	now                 func() time.Time
}

func newHashTokens(all *payload.Map, now func() time.Time) *hashTokens {
	text := func(key, def string) string { return cmp.Or(all.Str(key), def) }
	sep := text("cache.redis.separator", "_")
	t := &hashTokens{now: now, banks: text("cache.redis.banks_prefix", "$BANKS") + sep,
		bank:   text("cache.redis.keys_prefix", "$KEYS") + sep + "tokens/",
		stamps: text("cache.redis.timestamp_prefix", "$TSTAMP") + sep + "tokens/",
		at: redisdb.Options{Host: text("cache.redis.host", "localhost"), Port: number64(all, "cache.redis.port", 6379),
			Socket: all.Str("cache.redis.unix_socket_path"), DB: number64(all, "cache.redis.db", 0),
			Password: all.Str("cache.redis.password")}}
	if on, _ := all.Value("cache.redis.cluster_mode").(bool); on {
		for _, v := range all.List("cache.redis.cluster.startup_nodes") {
			node, _ := v.(*payload.Map)
			t.at.Nodes = append(t.at.Nodes, fmt.Sprintf("%s:%d", node.Str("host"), number64(node, "port", 6379)))
		}
	}
	return t
}

func (t *hashTokens) get(name string) (b []byte, err error) {
	err = askRedis(t.at, func(ctx context.Context, c redisdb.Client) error {
		text, err := c.HGet(ctx, t.bank, name).Result()
		if errors.Is(err, redisdb.Nil) {
			return nil
		}
		b = []byte(text)
		return err
	})
	return b, err
}

func (t *hashTokens) put(name string, tok *payload.Map) error {
	var stored any = tok
	if end, ok := endOf(tok); ok {
		stored = payload.M("data", tok, "_expires", end.Unix())
	}
	b, err := payload.Marshal(stored)
	if err != nil {
		return err
	}
	stamp, err := payload.Marshal(t.now().Unix())
	if err != nil {
		return err
	}
	return askRedis(t.at, func(ctx context.Context, c redisdb.Client) error {
		return errors.Join(c.Do(ctx, "ZADD", t.banks, 0, t.bank).Err(), c.HSet(ctx, t.bank, name, b).Err(),
			c.HSet(ctx, t.stamps, name, stamp).Err())
	})
}

func (t *hashTokens) remove(name string) error {
	return askRedis(t.at, func(ctx context.Context, c redisdb.Client) error {
		return errors.Join(c.HDel(ctx, t.bank, name).Err(), c.HDel(ctx, t.stamps, name).Err())
	})
}

func (t *hashTokens) names() (out []string, err error) {
	err = askRedis(t.at, func(ctx context.Context, c redisdb.Client) error {
		out, err = c.HKeys(ctx, t.bank).Result()
		return err
	})
	return out, err
}

// unpackToken reads a stored token, with or without the cover that Salt's cache gives to what ends.
func unpackToken(b []byte) (*payload.Map, error) {
	tok, err := payload.UnmarshalMap(b)
	if err == nil && tok.Len() == 2 && tok.Has("_expires") {
		if inner := tok.Map("data"); inner.Len() > 0 {
			return inner, nil
		}
	}
	return tok, err
}
