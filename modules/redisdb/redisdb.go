// Package redisdb opens connections to Redis servers, alone or in a cluster, for one call each: nothing of them is
// kept. It knows no keys (see modules/returners, modules/pillar). It answers to what Salt does with redis-py and
// redis-py-cluster.
package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options say where a server is and how to sign in to it.
type Options struct {
	Host     string
	Port     int
	Socket   string   // path of a Unix socket, which wins over host and port
	DB       int      // number of the database; a cluster has but one
	Password string   // "": none
	Nodes    []string // host:port of some members of a cluster; none: no cluster
}

// What is used of the library.
type (
	Client    = redis.UniversalClient // has the commands of a server or of a cluster
	Pipeliner = redis.Pipeliner
	StringCmd = redis.StringCmd
)

// Nil is the error of a key that is not there.
const Nil = redis.Nil

// WrongType says that a key holds something else than the command wants.
func WrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }

// timeout is how long a server may be silent when the context of the call has no deadline.
const timeout = 30 * time.Second

// With opens a client, hands it to use and closes it. Connections are made when commands need them, and break when ctx
// ends. Its errors name the server, never the password.
func With(ctx context.Context, o Options, use func(ctx context.Context, c Client) error) (err error) {
	logging.Disable() // the library would write to the standard error of the process
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := o.client(ctx)
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := use(ctx, c); err != nil {
		return fmt.Errorf("redis at %s: %w", o.place(), err)
	}
	return nil
}

// place names the server in errors.
func (o Options) place() string {
	switch {
	case len(o.Nodes) > 0:
		return fmt.Sprint(o.Nodes)
	case o.Socket != "":
		return o.Socket
	}
	return net.JoinHostPort(o.Host, strconv.Itoa(o.Port))
}

func (o Options) client(ctx context.Context) Client {
	dial := dialer(ctx)
	if len(o.Nodes) > 0 {
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: o.Nodes, Password: o.Password, Protocol: 2,
			Dialer: dial, DialerRetries: 1, PoolSize: 1, MaxActiveConns: 1, PipelinePoolSize: -1, ReadTimeout: timeout,
			WriteTimeout: timeout, ContextTimeoutEnabled: true, DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	}
	network, addr := "tcp", o.place()
	if o.Socket != "" {
		network = "unix"
	}
	return redis.NewClient(&redis.Options{Network: network, Addr: addr, DB: o.DB, Password: o.Password, Protocol: 2,
		Dialer: dial, DialerRetries: 1, PoolSize: 1, MaxActiveConns: 1, PipelinePoolSize: -1, MaxRetries: -1,
		ReadTimeout: timeout, WriteTimeout: timeout, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
}

// dialer makes connections that end with ctx, also while the server is silent.
func dialer(ctx context.Context) func(context.Context, string, string) (net.Conn, error) {
	return func(dialing context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(dialing, network, addr)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() }) // that it is closed already is no news
		return conn, nil
	}
}

// EachKey hands the keys that match a glob of Redis to take, without an order, a page after the other. In a cluster
// those of all masters. It never holds up the server as KEYS does.
func EachKey(ctx context.Context, c Client, glob string, take func(keys []string) error) error {
	if cluster, ok := c.(*redis.ClusterClient); ok {
		var found []string // masters answer side by side
		pages := make(chan []string)
		done := make(chan error, 1)
		go func() {
			defer close(pages)
			done <- cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
				return scan(ctx, node, glob, func(keys []string) error { pages <- keys; return nil })
			})
		}()
		for keys := range pages {
			found = append(found, keys...)
		}
		if err := <-done; err != nil {
			return err
		}
		return take(found)
	}
	return scan(ctx, c, glob, take)
}

const scanPage = 500 // keys that a server looks at in one go

func scan(ctx context.Context, c redis.Cmdable, glob string, take func(keys []string) error) error {
	var cursor uint64
	for {
		keys, next, err := c.Scan(ctx, cursor, glob, scanPage).Result()
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := take(keys); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
