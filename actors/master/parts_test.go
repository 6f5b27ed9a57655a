package master

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/config"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/presence"
	"brine/modules/runners"
	"brine/supervisor/stats"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/wiretest"

	"github.com/google/go-cmp/cmp"
)

// TestTree: the children stand in Salt's order, workers under the request server, three lanes of them.
func TestTree(t *testing.T) {
	r := newRig(t, "worker_threads: 2")
	var names []string
	for _, c := range r.m.Supervisor().Snapshot() {
		names = append(names, c.Name)
	}
	if want := []string{"EventPublisher", "Publisher", "JobStore", "Maintenance", "Pillar", "FileServer",
		"ReqServer"}; !cmp.Equal(names, want) {
		t.Errorf("children %q, want %q", names, want)
	}
	lanes := map[string]int{}
	r.tree(func(c stats.Child) {
		if rest, ok := strings.CutPrefix(c.Name, "MWorker-"); ok {
			lane, _, _ := strings.Cut(rest, "-")
			lanes[lane]++
		}
	})
	if lanes["fast"] != 2 || lanes["slow"] != 2 || lanes["auth"] < 2 {
		t.Errorf("workers %v", lanes)
	}
}

// TestWorkerPools: a configured layout replaces the lanes, and commands go where it says.
func TestWorkerPools(t *testing.T) {
	r := newRig(t, "worker_pools: {mine: {worker_count: 1, commands: [_mine, ping]}, rest: {worker_count: 2, "+
		"commands: ['*']}}", "master_stats: true", "master_stats_event_iter: 0")
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "ping", r.clear(cmd("ping")), cmd("ping"))
	data := ear.await("salt/stats/MWorker-mine-0")
	equal(t, "pool", data.Value("pool"), "mine")
	equal(t, "pool_index", data.Value("pool_index"), 0)
	equal(t, "worker", data.Value("worker"), "MWorker-mine-0")
	if s := data.Map("stats").Map("ping"); s.Value("runs") != int64(1) || !s.Has("mean") {
		t.Errorf("stats %s", text(data))
	}
	equal(t, "sealed command of a pool", m.ask(cmd("_mine", "data", payload.M("a", 1))), true)
	ear.await("salt/stats/MWorker-mine-0")
}

// TestMasterStatsOff: without the option nothing is fired.
func TestMasterStatsOff(t *testing.T) {
	r := newRig(t, "master_stats_event_iter: 0")
	ear := r.hear()
	r.clear(cmd("ping"))
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); len(seen) > 0 {
		t.Errorf("events %q", seen)
	}
}

// fixed is a presence.Cache: minions and their addresses.
type fixed map[string]string

func (f fixed) Cached(string) ([]string, error) { return slices.Collect(maps.Keys(f)), nil }

func (f fixed) Data(_, id string) (*payload.Map, error) { return payload.M("ipv4", []any{f[id]}), nil }

// TestMaxMinions: an unknown minion beyond the limit is told that the master is full.
func TestMaxMinions(t *testing.T) {
	r := newRig(t, "max_minions: 1")
	r.accept("m1", "minion")
	*r.m.stores.presence = presence.Finder{Cache: fixed{"m2": "10.0.0.2", "m3": "10.0.0.3"}, Port: 4505,
		Peers: func() (list []presence.Conn, err error) {
			for _, a := range []string{"10.0.0.2", "10.0.0.3"} {
				list = append(list, presence.Conn{LocalPort: 4505, Remote: netip.AddrPortFrom(netip.MustParseAddr(a),
					1)})
			}
			return list, nil
		}}
	ear := r.hear()
	if step := r.newMinion("m1").signIn(); step.Verdict.String() != "full" {
		t.Errorf("sign-in: %+v", step)
	}
	equal(t, "act", ear.await("salt/auth").Value("act"), "full")
}

func TestKeyCacheFile(t *testing.T) {
	r := newRig(t, "key_cache: sched", "loop_interval: 1")
	r.accept("m1", "minion")
	r.accept(".hidden", "minion")
	path := filepath.Join(r.cfg.PKIDir, "minions", ".key_cache")
	r.eventually("key cache", func() error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		v, err := payload.Unmarshal(b)
		if err == nil && !payload.Equal(v, []any{"m1"}) {
			err = fmt.Errorf("holds %v", v)
		}
		return err
	})
	if ids, err := r.m.stores.keys.IDs(keys.Accepted); err != nil || !cmp.Equal(ids, []string{"m1"}) {
		t.Errorf("accepted %q, %v", ids, err)
	}
}

// TestPushedEvents: what tools push comes out again, unchanged and in order, in process and at the socket.
func TestPushedEvents(t *testing.T) {
	r := newRig(t)
	ear := r.hear()
	stream, err := r.m.core.functions.Watch(testContext(t), "master", "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	push := ipc.NewPusher(filepath.Join(r.cfg.SockDir, event.MasterPullSocket), ipc.FramingLength)
	defer push.Close()
	for i := range 20 {
		body, err := event.Pack("tool/"+fmt.Sprint(i), payload.M("n", i), 0)
		if err == nil {
			err = push.Push(testContext(t), body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		tag, data := ear.next()
		got, inner, err := stream.Next(testContext(t))
		if err != nil || tag != "tool/"+fmt.Sprint(i) || got != tag || !payload.Equal(data, inner) {
			t.Fatalf("got %s, %s, %v", tag, got, err)
		}
	}
	if err := push.Push(testContext(t), []byte("no event at all")); err != nil {
		t.Fatal(err)
	}
	r.m.Fire("test/end", payload.NewMap(0))
	ear.await("test/end")
	if tag, _, err := stream.Next(testContext(t)); err != nil || tag != "test/end" {
		t.Errorf("after garbage: %s, %v", tag, err)
	}
}

// TestSlowStream: a reader in this process that does not read loses the oldest, and holds up nobody.
func TestSlowStream(t *testing.T) {
	const streamed = 4096 // events that wait for a reader
	r := newRig(t)
	s, err := r.m.core.events.Subscribe(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ear := r.hear()
	for i := range streamed + 100 {
		r.m.Fire("flood", payload.M("n", i))
	}
	r.m.Fire("test/end", payload.NewMap(0))
	ear.await("test/end")
	for want := int64(-1); ; want++ {
		tag, data, err := s.Next(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if tag == "test/end" { // which may come after the other reader has had it
			if want != streamed+100 {
				t.Errorf("the last before the end is %d", want-1)
			}
			return
		}
		n, _ := data.Int("n")
		if want < 0 {
			want = n
		}
		if tag != "flood" || n != want || n == 0 {
			t.Fatalf("got %s %d, want %d, the oldest lost", tag, n, want)
		}
	}
}

// TestCollect: runners publish in this process by the rules of the salt command.
func TestCollect(t *testing.T) {
	r := newRig(t, "timeout: 1", "gather_job_timeout: 1")
	m1 := r.minion("m1")
	r.accept("m2", "minion")
	r.subscribe(m1.link, "") // who is not connected is not waited for
	r.awaitLink("m1", ledger.LinkUp)
	ear := r.hear()
	type outcome struct {
		got *runners.Collected
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		got, err := r.m.core.functions.Collect(testContext(t), runners.Job{Tgt: "*", Fun: "test.kwarg", Args: []any{1},
			KW: payload.M("k", "v")})
		done <- outcome{got, err}
	}()
	jid := ear.jobOf("test.kwarg")
	if err := r.m.AwaitJobs(testContext(t)); err != nil {
		t.Fatal(err)
	}
	load, err := r.m.Jobs().Load(jid)
	m1.giveBack(jid, "test.kwarg", "here")
	o := actortest.Wait(t, "the end of the job", done)
	if o.err != nil || err != nil {
		t.Fatal(o.err, err)
	}
	equal(t, "arguments", load.Value("arg"), []any{1, payload.M("k", "v", "__kwarg__", true)})
	equal(t, "minions", payload.AnyList(o.got.Minions), []any{"m1", "m2"})
	if o.got.Returns.Len() != 1 || o.got.Returns.Map("m1").Value("return") != "here" {
		t.Errorf("returns %s", text(o.got.Returns))
	}
	if got, err := r.m.core.functions.Collect(testContext(t), runners.Job{Tgt: "zz", Fun: "test.ping"}); err != nil ||
		len(got.Minions) > 0 {
		t.Errorf("nobody: %v, %v", got, err)
	}
}

// TestLocalCache: master_job_cache: local_cache keeps jobs in Salt's own files, for the same commands.
func TestLocalCache(t *testing.T) {
	r := newRig(t, "master_job_cache: local_cache", "job_cache_store_endtime: true")
	m := r.minion("m1")
	jid := r.publish(payload.NewMap(0))
	m.giveBack(jid, "test.ping", true)
	dir := r.jobDir(jid)
	for _, name := range []string{".load.p", ".minions.p", "m1/return.p", "endtime"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	equal(t, "stored", r.stored(jid), payload.M("m1", payload.M("return", true, "retcode", 0, "success", true)))
	if _, err := os.Stat(filepath.Join(r.cfg.CacheDir, "jobs.db")); err == nil {
		t.Error("there is a job store, too")
	}
	r.stop()
	r.start()
	equal(t, "after a restart", r.stored(jid).Map("m1").Value("return"), true)
}

// TestUnknownJobCache: a job cache that lacks what one needs keeps a master from starting.
func TestUnknownJobCache(t *testing.T) {
	r := newSite(t, "master_job_cache: rawfile_json", "ext_job_cache: nobody")
	own, err := LoadKeys(r.cfg, actortest.NewLog().Logger())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(Options{Config: r.cfg, Logger: r.logger(), Keys: own, RunningUser: userName()})
	if err == nil || !strings.Contains(err.Error(), "rawfile_json.save_load, rawfile_json.get_load, "+
		"rawfile_json.get_jid, rawfile_json.get_jids, nobody.save_load") {
		t.Errorf("got %v", err)
	}
}

func TestSigningKey(t *testing.T) {
	r := newSite(t, "master_sign_pubkey: true", "master_use_pubkey_signature: true")
	r.writeFile(filepath.Join(r.cfg.PKIDir, "master_sign.pem"), wiretest.Load(t, "rsa").Keys()["sign"].Private, 0o400)
	if _, err := LoadKeys(r.cfg, actortest.NewLog().Logger()); err == nil || !strings.Contains(err.Error(),
		"precomputed signature") {
		t.Errorf("without the file: %v", err)
	}
	r.writeFile(filepath.Join(r.cfg.PKIDir, "master_pubkey_signature"), "abc=\n", 0o600)
	k, err := LoadKeys(r.cfg, actortest.NewLog().Logger())
	if err != nil || k.Sign == nil || k.PubSig != "abc=\n" {
		t.Errorf("got %+v, %v", k, err)
	}
	if k.Local[userName()] != r.rootKey() {
		t.Error("the access key is not that of the file")
	}
}

// TestConfigDefaults: what this package takes for granted of a configuration without a file.
func TestConfigDefaults(t *testing.T) {
	cfg, err := config.LoadMaster(filepath.Join(t.TempDir(), "master"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.RequestTimeout <= 0 || cfg.RequestQueueMax <= 0 || cfg.LoopInterval <= 0 || cfg.StopTimeout <= 0 {
		t.Errorf("got %v, %v, %v, %v", cfg.RequestTimeout, cfg.RequestQueueMax, cfg.LoopInterval, cfg.StopTimeout)
	}
}

// TestConnectedByAddress: minions that say nothing of themselves are found by their addresses.
func TestConnectedByAddress(t *testing.T) {
	r := newRig(t)
	var conns []presence.Conn
	*r.m.stores.presence = presence.Finder{Cache: fixed{"m1": "10.0.0.1", "m2": "10.0.0.2"}, Port: 4505,
		Peers: func() ([]presence.Conn, error) {
			return conns, nil
		}, Local: func() ([]netip.Addr, error) { return nil, nil }}
	for _, tt := range []struct{ addrs, want []string }{
		{[]string{"10.0.0.2", "10.0.0.1"}, []string{"m1", "m2"}}, {[]string{"10.0.0.2", "10.9.9.9"}, []string{"m2"}},
	} {
		conns = nil
		for _, a := range tt.addrs {
			conns = append(conns, presence.Conn{LocalPort: 4505, Remote: netip.AddrPortFrom(netip.MustParseAddr(a),
				1234)})
		}
		got, err := r.m.core.attendance.Connected()
		if ids := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(ids, tt.want) {
			t.Errorf("%v: got %v, %v", tt.addrs, ids, err)
		}
	}
	*r.m.stores.presence = presence.Finder{Peers: func() ([]presence.Conn, error) { return nil, errors.New("no table") }}
	if _, err := r.m.core.attendance.Connected(); err == nil {
		t.Error("no error")
	}
}
