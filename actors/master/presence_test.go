package master

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/actors/master/maintenance"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/disk/packedfile"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// TestPresenceEvents: who comes and goes is told, and who has gone while no master ran, too.
func TestPresenceEvents(t *testing.T) {
	r := newSite(t, "presence_events: True", "loop_interval: 1")
	path := filepath.Join(r.cfg.CacheDir, "presence-data")
	before := payload.M("CacheDisk_data", payload.M("present", []any{"gone", "m1", "../x"}), "CacheDisk_cachetime",
		payload.M("present", float64(time.Now().Add(-time.Minute).Unix())))
	if err := os.MkdirAll(r.cfg.CacheDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := packedfile.Write(path, before, wholefile.Options{Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	r.start()
	ear := r.hear()
	m := r.minion("m1")
	leave := r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	lists := func(wantNew, wantLost []any) {
		t.Helper()
		data := ear.await("salt/presence/change")
		equal(t, "new", data.Value("new"), wantNew)
		equal(t, "lost", data.Value("lost"), wantLost)
		equal(t, "fields", data.Len(), 3)
	}
	// The master may have looked before the minion was there: then both were lost, and one comes back.
	data := ear.await("salt/presence/change")
	if fmt.Sprint(data.Value("lost")) == "[gone m1]" {
		lists([]any{"m1"}, []any{})
	} else {
		equal(t, "lost", data.Value("lost"), []any{"gone"})
		equal(t, "new", data.Value("new"), []any{})
	}
	equal(t, "present", ear.await("salt/presence/present").Value("present"), []any{"m1"})
	leave()
	lists([]any{}, []any{"m1"})
	r.eventually("the file says that nobody is there", func() error {
		v, err := packedfile.Read(path)
		if err != nil {
			return err
		}
		file, _ := v.(*payload.Map)
		if there := file.Map("CacheDisk_data").List("present"); len(there) > 0 {
			return fmt.Errorf("%v", there)
		}
		return nil
	})
}

// TestPingOnRotate: after a rotation the connected minions are pinged, as a list, and nobody is where nobody is.
func TestPingOnRotate(t *testing.T) {
	r := newRig(t, "ping_on_rotate: True", "loop_interval: 3600")
	ear := r.hear()
	rotate := func() {
		if err := keys.WriteDrop(r.cfg.CacheDir, r.cfg.ID, nil); err != nil {
			t.Fatal(err)
		}
		actor, _ := r.m.Supervisor().Lookup(nameMaintenance)
		actor.Send(&maintenance.CheckKeys{})
		ear.await("key")
	}
	rotate()
	r.m.Fire("my/mark", payload.NewMap(0))
	if tag, data := ear.next(); tag != "my/mark" {
		t.Errorf("with nobody there: %s %v", tag, data)
	}
	m := r.minion("m1")
	r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	rotate()
	for {
		tag, data := ear.next()
		if data.Str("fun") != "test.ping" {
			continue
		}
		equal(t, tag, data.Value("tgt"), []any{"m1"})
		equal(t, tag, data.Value("tgt_type"), "list")
		break
	}
}
