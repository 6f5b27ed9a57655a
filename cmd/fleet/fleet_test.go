package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	"brine/actors/master"
	"brine/config"
	"brine/wire/client"
	"brine/wire/crypt"
	"brine/wire/loopback"
	"brine/wire/zmq"
)

// startMaster runs a master that accepts every key and returns a client of it and its request port.
func startMaster(t *testing.T) (*client.Client, int) {
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
	ret := freePort(t)
	file := filepath.Join(dir, "master")
	text := fmt.Sprintf("root_dir: %s\ninterface: 127.0.0.1\npublish_port: %d\nret_port: %d\nuser: %s\nauto_accept: True\nminimum_auth_version: 0\n",
		dir, freePort(t), ret, me.Username)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.LoadMaster(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Environment().Verify(); err != nil {
		t.Fatal(err)
	}
	keys, err := master.LoadKeys(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := master.Start(master.Options{Config: cfg, Logger: slog.New(slog.DiscardHandler), Keys: keys, RunningUser: me.Username})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := m.Stop(time.Minute); err != nil {
			t.Error(err)
		}
	})
	c := client.New(client.Options{MasterURI: zmq.ConnectEndpoint("127.0.0.1", ret, "", 0), SockDir: cfg.SockDir,
		CacheDir: cfg.CacheDir, User: me.Username, KeyOwner: me.Username})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, ret
}

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

// TestFleet lets a small fleet of either version answer a job, and fire its bursts at a master.
func TestFleet(t *testing.T) {
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		t.Fatal(err)
	}
	const size = 8
	for _, version := range []int{0, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			c, ret := startMaster(t)
			ctx, cancel := context.WithCancel(t.Context())
			f, err := Start(ctx, Options{Minions: size, Prefix: "e", Host: "127.0.0.1", RetPort: ret, Key: key, Version: version})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				cancel()
				if err := f.Wait(); err != nil {
					t.Error(err)
				}
			}()
			eventually(t, "fleet up", func() bool { return f.Counts().Up == size })
			for _, m := range f.minions {
				if got := m.auth.Version(); got != 3 && version == 0 || got != 2 && version == 2 {
					t.Errorf("%s speaks version %d, option %d", m.id, got, version)
				}
			}
			answerJob(t, f, c, size)
			fireBursts(t, f, c, size)
			if n := f.Counts().Failures; n > 0 {
				t.Errorf("%d failures", n)
			}
		})
	}
}

// answerJob publishes to all, then to a list of two.
func answerJob(t *testing.T, f *Fleet, c *client.Client, size int64) {
	t.Helper()
	for _, tt := range []struct {
		tgt  any
		kind string
		want int64
	}{{"*", "glob", size}, {[]any{"e0001", "e0002"}, "list", 2}, {"e0003", "glob", 1}} {
		before := f.Counts()
		eventually(t, fmt.Sprintf("answers of %v", tt.tgt), func() bool { // a subscription may arrive after the first job
			if _, err := c.Publish(t.Context(), client.Job{Tgt: tt.tgt, TgtType: tt.kind, Fun: "test.ping"}); err != nil {
				t.Fatal(err)
			}
			return f.Counts().Returns >= before.Returns+tt.want
		})
	}
}

func fireBursts(t *testing.T, f *Fleet, c *client.Client, size int) {
	t.Helper()
	f.Hold(true)
	defer f.Hold(false)
	pub, err := c.Publish(t.Context(), client.Job{Tgt: "*", Fun: "test.ping"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Returns(t.Context(), []string{pub.JID}, 4)
	if err != nil || b.Err != nil || b.Sent != size || b.Refused != 0 || b.Rate() <= 0 {
		t.Errorf("returns: %+v, %v", b, err)
	}
	b, err = f.SignIns(t.Context(), 2, 4)
	if err != nil || b.Err != nil || b.Sent != 2*size || b.Refused != 0 {
		t.Errorf("sign-ins: %+v, %v", b, err)
	}
}

// TestAccepted checks that only an acceptance counts as one.
func TestAccepted(t *testing.T) {
	for name, reply := range map[string][]byte{"nothing": nil, "text": []byte("\xa8bad load"), "no map inside": []byte("\x81\xa4load\xa1x")} {
		if accepted(reply) == nil {
			t.Errorf("%s counts as an acceptance", name)
		}
	}
}
