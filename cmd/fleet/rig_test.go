package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"brine/actors/master"
	"brine/config"
	"brine/wire/client"
	"brine/wire/crypt"
	"brine/wire/loopback"
	"brine/wire/zmq"
)

// rig is a master that can be stopped and started again.
type rig struct {
	t    *testing.T
	file string
	ret  int // its request port
	m    *master.Master
	user string
	cfg  *config.Master
}

// newRig starts a master with more lines in its file.
func newRig(t *testing.T, more string) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bf") // short: Unix socket paths end at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, file: filepath.Join(dir, "master"), ret: freePort(t), user: me.Username}
	text := fmt.Sprintf("root_dir: %s\ninterface: 127.0.0.1\npublish_port: %d\nret_port: %d\nuser: "+
		"%s\nminimum_auth_version: 0\n%s\n",
		dir, freePort(t), r.ret, r.user, more)
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *rig) start() {
	r.t.Helper()
	cfg, err := config.LoadMaster(r.file, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := cfg.Environment().Verify(); err != nil {
		r.t.Fatal(err)
	}
	keys, err := master.LoadKeys(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		r.t.Fatal(err)
	}
	r.cfg = cfg
	r.m, err = master.Start(master.Options{Config: cfg, Logger: slog.New(slog.DiscardHandler), Keys: keys,
		RunningUser: r.user})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) stop() {
	if _, err := r.m.Stop(time.Minute); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) client() *client.Client {
	r.t.Helper()
	c := client.New(client.Options{
		Dial: zmq.Dialer(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.ret, "", 0)}), SockDir: r.cfg.SockDir,
		CacheDir: r.cfg.CacheDir, User: r.user, KeyOwner: r.user})
	r.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return c
}

// gather starts a fleet that ends with the test.
func (r *rig) gather(opt Options) *Fleet {
	r.t.Helper()
	if opt.Key == nil {
		opt.Key = testKey()
	}
	opt.Prefix, opt.Host, opt.RetPort = "e", "127.0.0.1", r.ret
	ctx, cancel := context.WithCancel(context.Background())
	f, err := Start(ctx, opt)
	if err != nil {
		cancel()
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		cancel()
		if err := f.Wait(); err != nil {
			r.t.Error(err)
		}
	})
	return f
}

// testKey is the key of all emulated minions.
var testKey = sync.OnceValue(func() *crypt.PrivateKey {
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		panic(err)
	}
	return key
})

// autoAccept lets everybody in.
const autoAccept = "auto_accept: True"

func freePort(t *testing.T) int {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() }) // ends with the process at the latest
	return p.Number
}

// eventually waits until ok, at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
