package master

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/config"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/presence"
	"brine/modules/runners"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/transport"
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

func TestPools(t *testing.T) {
	lane := func(name string, n int, commands ...string) pool { return pool{name, n, commands} }
	for _, tt := range []struct {
		name string
		list []pool
		want string
	}{
		{"one", []pool{lane("a", 1, "*")}, ""},
		{"two", []pool{lane("a", 1, "*"), lane("b", 2, "_auth")}, ""},
		{"no workers", []pool{lane("a", 0, "*")}, "worker_count 0 is below 1"},
		{"nobody takes the rest", []pool{lane("a", 1, "_auth")}, `no pool takes "*"`},
		{"two take the rest", []pool{lane("a", 1, "*"), lane("b", 1, "*")}, `command "*" stands in two pools`},
		{"a command twice", []pool{lane("a", 1, "*", "x"), lane("b", 1, "x")}, `command "x" stands in two pools`},
		{"none", nil, `no pool takes "*"`},
	} {
		_, err := newPools(tt.list)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
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

func TestOpenFilesText(t *testing.T) {
	for _, tt := range []struct {
		accepted, soft, hard, wanted uint64
		level                        slog.Level
		want                         []string
	}{
		{250, 1000, 1000, 1000, 0, nil},
		{251, 1000, 1000, 1000, slog.LevelInfo, []string{"accepted minion keys(251)", "soft setting(1000)",
			"raising this value"}},
		{334, 1000, 1000, 1000, slog.LevelWarn, []string{"keys(334)"}},
		{500, 1000, 1000, 1000, levelCritical, []string{"keys(500)"}},
		{1000, 1000, 4000, 1000, levelCritical, []string{"crash pretty soon", "margin of 3000"}},
	} {
		level, got := openFilesText(tt.accepted, tt.soft, tt.hard, tt.wanted)
		if level != tt.level || (got == "") != (tt.want == nil) {
			t.Errorf("%+v: got %v %q", tt, level, got)
		}
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%+v: got %q", tt, got)
			}
		}
	}
}

// fixed is a presence.Cache: minions and their addresses.
type fixed map[string]string

func (f fixed) Cached(string) ([]string, error) { return slices.Collect(maps.Keys(f)), nil }

func (f fixed) Data(_, id string) (*payload.Map, error) { return payload.M("ipv4", []any{f[id]}), nil }

// TestPresence: who came and who went is told, and who is there each time.
func TestPresence(t *testing.T) {
	r := newRig(t)
	var conns []presence.Conn
	r.m.core.attendance.finder = &presence.Finder{Cache: fixed{"m1": "10.0.0.1", "m2": "10.0.0.2"}, Port: 4505,
		Peers: func() ([]presence.Conn, error) {
			return conns, nil
		}, Local: func() ([]netip.Addr, error) { return nil, nil }}
	ear := r.hear()
	past := &remembered{}
	look := func(addrs ...string) {
		t.Helper()
		conns = nil
		for _, a := range addrs {
			conns = append(conns, presence.Conn{LocalPort: 4505, Remote: netip.AddrPortFrom(netip.MustParseAddr(a),
				1234)})
		}
		if err := r.m.core.upkeep.firePresence(past, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	change := func(come, gone []any) {
		t.Helper()
		tag, data := ear.next()
		data.Delete("_stamp")
		equal(t, "tag", tag, event.TagPresenceChange)
		equal(t, "change", data, payload.M("new", come, "lost", gone))
	}
	present := func(ids ...any) {
		t.Helper()
		tag, data := ear.next()
		equal(t, "tag", tag, event.TagPresent)
		equal(t, "present", data.Value("present"), append([]any{}, ids...))
	}
	look("10.0.0.2", "10.0.0.1")
	change([]any{"m1", "m2"}, []any{})
	present("m1", "m2")
	look("10.0.0.2", "10.0.0.1")
	present("m1", "m2")
	look("10.0.0.2", "10.9.9.9")
	change([]any{}, []any{"m1"})
	present("m2")
	r.m.core.attendance.finder = &presence.Finder{Peers: func() ([]presence.Conn, error) {
		return nil, errors.New("no table")
	}}
	if err := r.m.core.upkeep.firePresence(past, time.Now()); err == nil {
		t.Error("no error")
	}
}

// TestMaxMinions: an unknown minion beyond the limit is told that the master is full.
func TestMaxMinions(t *testing.T) {
	r := newRig(t, "max_minions: 1")
	r.accept("m1", "minion")
	r.m.core.attendance.finder = &presence.Finder{Cache: fixed{"m2": "10.0.0.2", "m3": "10.0.0.3"}, Port: 4505,
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
	if ids, err := r.m.core.keys.IDs(keys.Accepted); err != nil || !cmp.Equal(ids, []string{"m1"}) {
		t.Errorf("accepted %q, %v", ids, err)
	}
}

func TestRemoveOlder(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": 2 * time.Hour, "young": time.Minute} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now.Add(-age),
			now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(removeOlder(dir, now.Add(-time.Hour), 0), removeOlder(filepath.Join(dir, "no"), now,
		time.Hour),
		removeOlder(dir, now.Add(-time.Hour), time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := names(dir); err != nil || !cmp.Equal(left, []string{"young"}) {
		t.Errorf("left %q, %v", left, err)
	}
}

func TestSchedule(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	var s dueTimes
	for _, tt := range []struct {
		now         int
		loop, alive bool
	}{{0, true, true}, {1, false, false}, {5, false, true}, {59, false, true}, {60, true, false}, {64, false, true},
		{200, true, true}} {
		var loop, alive bool
		if s, loop, alive = s.next(at(tt.now), time.Minute); loop != tt.loop || alive != tt.alive {
			t.Errorf("at %d: loop %v, alive %v", tt.now, loop, alive)
		}
	}
}

// TestMaintenanceGoesOn: one piece that fails does not keep the others from their work.
func TestMaintenanceGoesOn(t *testing.T) {
	log := actortest.NewLog()
	did := make(chan string, 100)
	broken := errors.New("broken")
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "Maintenance", New: func() supervisor.Actor {
		return &maintenance{opt: maintenanceOptions{loop: time.Hour, past: &remembered{}, log: log.Logger(),
			takeDrop: func() (bool, error) { return false, broken }, rotate: func() error { return broken },
			changed: func() (time.Time, time.Time) {
				return time.Now(), time.Now()
			}, accepted: func() ([]string, error) {
				return nil, broken
			}, sessions: func() ([]string, error) { return []string{"x"}, nil },
			revoke: func(string) error {
				return broken
			}, alive: func() {}, jobs: func(time.Time) { did <- "jobs" }, facts: func() {},
			tasks: []func(time.Time) error{func(time.Time) error {
				did <- "one"
				return broken
			}, func(time.Time) error { did <- "two"; return nil }},
			fire: func(string, *payload.Map) {}}}
	}})
	ref.Send(&RotateKey{})
	for _, want := range []string{"jobs", "one", "two"} {
		if got := actortest.Wait(t, want, did); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, text := range []string{"sessions cannot be compared", "the request for a new key cannot be read",
		"maintenance failed", "the shared key cannot be rotated"} {
		log.Await(t, text)
	}
}

// port collects what a Publisher sends.
type port struct {
	sent chan sentJob
	fail error
}

// sentJob is a sealed publication, and whom it is for.
type sentJob struct {
	To     transport.To
	Sealed string
}

func (p *port) Open() error  { return nil }
func (p *port) Close() error { return nil }
func (p *port) Publish(to transport.To, sealed []byte) error {
	p.sent <- sentJob{to, string(sealed)}
	return p.fail
}

func TestPublisherAddresses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		syndic bool
		ids    []string
	}{
		{"everybody", true, nil},
		{"ids", false, []string{"m1", "m2"}},
		{"ids and syndics", true, []string{"m1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sock := &port{sent: make(chan sentJob, 10)}
			s := actortest.Start(t, supervisor.Options{})
			ref := actortest.Add(t, s, supervisor.Spec{Name: "Publisher", New: func() supervisor.Actor {
				return &publisher{opt: publisherOptions{open: func() transport.Publisher {
					return sock
				}, syndic: tt.syndic, log: discard(),
					record: &record{book: newBook(ledger.Limits{})},
					seal: func(load *payload.Map) ([]byte, error) {
						if load.Has("bad") {
							return nil, errors.New("bad job")
						}
						return []byte("sealed"), nil
					}}}
			}})
			ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("bad", true)), Topics: tt.ids}) // is said and left out
			ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", someJID)), Topics: tt.ids})
			want := sentJob{transport.To{IDs: tt.ids, Syndics: tt.syndic}, "sealed"}
			if diff := cmp.Diff(want, actortest.Wait(t, "publication", sock.sent)); diff != "" {
				t.Error(diff)
			}
			for _, c := range s.Snapshot() {
				if c.Failed != 1 || c.Restarts != 0 {
					t.Errorf("failed %d, restarts %d", c.Failed, c.Restarts)
				}
			}
		})
	}
}

// TestFilteredPublication: which targets a filtering master sends to single minions.
func TestFilteredPublication(t *testing.T) {
	r := newRig(t, "zmq_filtering: true")
	for _, tt := range []struct {
		tgtType string
		want    []string
	}{{"glob", []string{"m1"}}, {"pcre", []string{"m1"}}, {"list", []string{"m1", "zz"}}, {"grain", nil},
		{"compound", nil}, {"", nil}} {
		if got := r.m.core.publications.topicIDs(tt.tgtType, found{[]string{"m1"}, []string{"zz"}}); !cmp.Equal(got,
			tt.want) {
			t.Errorf("%q: got %q, want %q", tt.tgtType, got, tt.want)
		}
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
	r := newRig(t)
	s, err := r.m.core.events.subscribe(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ear := r.hear()
	for i := range streamRoom + 100 {
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
			if want != streamRoom+100 {
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
