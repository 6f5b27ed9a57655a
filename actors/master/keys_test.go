package master

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/keys"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// subscriber hears what the master publishes.
func (r *rig) subscriber() <-chan []byte {
	r.t.Helper()
	frames := make(chan []byte, 100)
	sub := zmq.NewSub(zmq.SubOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.cfg.PublishPort, "", 0),
		Context: r.zctx, ReconnectIvl: 10 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- sub.Serve(ctx, func(f []byte) { frames <- f })
	}()
	r.t.Cleanup(func() { cancel(); <-done })
	return frames
}

// firstJob publishes until a subscriber hears, and returns the frame and the jid of the last job.
func (r *rig) firstJob(frames <-chan []byte) (frame []byte, last string) {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		last = r.publish(payload.NewMap(0))
		select {
		case f := <-frames:
			return f, last
		case <-time.After(20 * time.Millisecond):
		}
	}
	r.t.Fatal("no publication was heard")
	return nil, ""
}

// TestRotation: salt-key asks for a new shared key by a file. Minions of version 3 go on with their sessions, and
// notice by the first publication.
func TestRotation(t *testing.T) {
	r := newRig(t, "loop_interval: 3600")
	m := r.minion("m1")
	frames := r.subscriber()
	frame, last := r.firstJob(frames)
	for { // all that is on its way
		load, err := m.OpenPublication(frame)
		if err != nil {
			t.Fatal(err)
		}
		if load.Str("jid") == last {
			break
		}
		frame = actortest.Wait(t, "publication", frames)
	}
	ear := r.hear()
	old := r.m.core.auth.SharedKey()
	if err := keys.WriteDrop(r.cfg.CacheDir, r.cfg.ID, nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "event", ear.await("key").Value("rotate_aes_key"), true)
	if r.m.core.auth.SharedKey() == old {
		t.Error("the key is the same")
	}
	if _, err := os.Stat(filepath.Join(r.cfg.CacheDir, ".dfn")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the request is still there: %v", err)
	}
	equal(t, "request with the session key", m.ask(cmd("_file_envs")), []any{"base"})
	frame, _ = r.firstJob(frames)
	if _, err := m.OpenPublication(frame); !errors.Is(err, auth.ErrReauth) {
		t.Errorf("publication under the new key: %v", err)
	}
	if step := m.signIn(); step.Verdict != auth.Accepted {
		t.Fatalf("sign-in: %+v", step)
	}
	if load, err := m.OpenPublication(frame); err != nil || load.Str("fun") != "test.ping" {
		t.Errorf("publication after the sign-in: %v, %v", load, err)
	}
}

// TestRotationRequests: only a file with mode 0400 that is empty or names this master counts.
func TestRotationRequests(t *testing.T) {
	r := newRig(t, "loop_interval: 3600")
	old := r.m.core.auth.SharedKey()
	drop := filepath.Join(r.cfg.CacheDir, ".dfn")
	check := func() {
		actor, _ := r.m.Supervisor().Lookup(nameMaintenance)
		for range 2 { // the second says that the first is done
			actor.Send(&CheckKeys{})
		}
		r.eventually("maintenance", func() error {
			if n := actor.Depth(); n > 0 {
				return fmt.Errorf("%d messages wait", n)
			}
			return nil
		})
	}
	for _, tt := range []struct {
		text string
		mode os.FileMode
	}{{"testmaster", 0o600}, {"othermaster", 0o400}} {
		r.writeFile(drop+".new", tt.text, tt.mode)
		if err := os.Rename(drop+".new", drop); err != nil { // an empty one counts
			t.Fatal(err)
		}
		check()
		if r.m.core.auth.SharedKey() != old {
			t.Errorf("%v: rotated", tt)
		}
		if err := os.Remove(drop); err != nil {
			t.Error(err)
		}
	}
	r.writeFile(drop, "", 0o400)
	r.eventually("rotation", func() error {
		if r.m.core.auth.SharedKey() == old {
			return errors.New("the key is the same")
		}
		return nil
	})
}

// TestPublishSession: the shared key has a life.
func TestPublishSession(t *testing.T) {
	r := newRig(t, "publish_session: 1", "loop_interval: 3600")
	ear := r.hear()
	ear.await("key")
	ear.await("key")
}

// TestKeyFilesCountAtOnce: whatever a tool changes in the key folders counts for the next request.
func TestKeyFilesCountAtOnce(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	store := r.keyStore()
	session := filepath.Join(r.cfg.CacheDir, "sessions", "m1")
	pub := r.read(filepath.Join(r.cfg.PKIDir, "minions", "m1"))
	equal(t, "accepted", m.ask(cmd("_file_envs")), []any{"base"})

	for _, tt := range []struct {
		name   string
		change func() error
		sign   auth.Verdict
	}{
		{"deleted", func() error { _, err := store.Remove(keys.Accepted, "m1"); return err }, auth.Pending},
		{"rejected", func() error { return store.Put(keys.Rejected, "m1", pub) }, auth.Rejected},
		{"back among the pending", func() error {
			_, err := store.Remove(keys.Accepted, "m1")
			return errors.Join(err, store.Put(keys.Pending, "m1", pub))
		}, auth.Pending},
	} {
		if err := tt.change(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.try(cmd("_file_envs")); !errors.Is(err, auth.ErrReauth) {
			t.Errorf("%s: a request: %v", tt.name, err)
		}
		if step := m.signIn(); step.Verdict != tt.sign {
			t.Errorf("%s: sign-in: %+v", tt.name, step)
		}
		r.eventually("end of the session", func() error {
			if _, err := os.Stat(session); !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("session file: %v", err)
			}
			return nil
		})
		if err := store.Put(keys.Accepted, "m1", pub); err != nil {
			t.Fatal(err)
		}
		if step := m.signIn(); step.Verdict != auth.Accepted {
			t.Fatalf("%s: sign-in when accepted again: %+v", tt.name, step)
		}
		equal(t, "accepted again", m.ask(cmd("_file_envs")), []any{"base"})
	}
}

// TestDeletedKeyEndsSession: the session key of a deleted minion goes without its doing, also when it was deleted
// while no master ran.
func TestDeletedKeyEndsSession(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"m1", "m2", "m3"} {
		r.minion(id)
	}
	gone := func(id string) {
		t.Helper()
		r.eventually("end of the session of "+id, func() error {
			if _, err := os.Stat(filepath.Join(r.cfg.CacheDir, "sessions", id)); !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("session file: %v", err)
			}
			return nil
		})
	}
	remove := func(id string) {
		t.Helper()
		if _, err := r.keyStore().Remove(keys.Accepted, id); err != nil {
			t.Fatal(err)
		}
	}
	remove("m1")
	gone("m1")
	r.stop()
	remove("m2")
	r.start()
	gone("m2")
	r.sessionOf("m3")
}

// TestOldSessionIsNotInherited: whoever gets an id anew gets another session key than the one before.
func TestOldSessionIsNotInherited(t *testing.T) {
	r := newRig(t)
	old := r.minion("m1")
	before := r.sessionOf("m1")
	if err := r.keyStore().Put(keys.Accepted, "m1", r.rsa["other"].Public); err != nil {
		t.Fatal(err)
	}
	fresh := r.newMinion("m1", func(o *auth.MinionOptions) { o.Key = r.pair("other") })
	if step := fresh.signIn(); step.Verdict != auth.Accepted {
		t.Fatalf("sign-in: %+v", step)
	}
	equal(t, "new owner", fresh.ask(cmd("_file_envs")), []any{"base"})
	if _, err := old.try(cmd("_file_envs")); !errors.Is(err, auth.ErrReauth) {
		t.Errorf("old owner: %v", err)
	}
	if r.sessionOf("m1") == before {
		t.Log("the session key is the same: known to both owners")
	}
}

// TestRestart: sessions, jobs and mines survive the master; the shared key does not.
func TestRestart(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	jid := r.publish(payload.NewMap(0))
	m.giveBack(jid, "test.ping", true)
	m.ask(cmd("_mine", "data", payload.M("a", 1)))
	shared := r.m.core.auth.SharedKey()
	r.stop()
	r.start()
	if r.m.core.auth.SharedKey() == shared {
		t.Error("the shared key survived")
	}
	equal(t, "request without a new sign-in", m.ask(cmd("_file_envs")), []any{"base"})
	equal(t, "return", r.stored(jid).Map("m1").Value("return"), true)
	load, err := r.m.Jobs().Load(jid)
	if err != nil || load.Str("fun") != "test.ping" {
		t.Errorf("load %v, %v", load, err)
	}
	if data, err := r.m.core.desks.data.cache.Mine("m1"); err != nil || data.Value("a") != int64(1) {
		t.Errorf("mine %v, %v", data, err)
	}
	m.giveBack(jid, "test.ping", true) // a minion that did not hear the answer sends it again
}

// TestMarkersAndHealth: files by which others see a master.
func TestMarkersAndHealth(t *testing.T) {
	r := newSite(t)
	health := filepath.Join(r.cfg.CacheDir, "health")
	r.writeFile(filepath.Join(health, "ready"), "old", 0o644)
	r.writeFile(filepath.Join(health, "stray"), "old", 0o644)
	r.writeFile(filepath.Join(r.cfg.SockDir, "workers.ipc"), "", 0o644)
	r.start()
	for _, name := range []string{"startup", "ready"} {
		var at int64
		if _, err := fmt.Sscan(r.read(filepath.Join(health, name)), &at); err != nil || time.Now().Unix()-at > 60 {
			t.Errorf("%s: %d, %v", name, at, err)
		}
	}
	if _, err := os.Stat(filepath.Join(health, "stray")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old health file: %v", err)
	}
	r.eventually("alive", func() error { _, err := os.Stat(filepath.Join(health, "alive")); return err })
	for _, name := range []string{"publish_pull.ipc", "workers.ipc"} {
		if info, err := os.Stat(filepath.Join(r.cfg.SockDir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	r.stop()
	left, err := os.ReadDir(r.cfg.SockDir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in sock_dir: %v, %v", left, err)
	}
}
