package minion

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// again starts a second minion where the first has ended.
func (r *rig) again() {
	r.t.Helper()
	r.fun = newFunctions()
	r.opt = r.options()
	r.ready = make(chan struct{}, 8)
	r.start()
}

// TestAfterDeath lets a minion find what a killed one has left: jobs that had begun, returns, a queue, rubbish.
func TestAfterDeath(t *testing.T) {
	r := newRig(t, "process_count_max: 1\n")
	l := link.New(link.Options{Master: r.cfg.Masters[0]})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pack := func(m *payload.Map) []byte {
		t.Helper()
		b, err := payload.MarshalBin(m)
		must(err)
		return b
	}
	proc, queue := filepath.Join(r.cfg.CacheDir, "proc"), filepath.Join(r.cfg.CacheDir, "queues", l.QueueName(),
		"job_queue")
	must(os.MkdirAll(proc, 0o700))
	must(os.MkdirAll(queue, 0o700))
	leave := func(dir, name string, b []byte) { must(os.WriteFile(filepath.Join(dir, name), b, 0o600)) }
	entry := func(n int) []byte {
		return pack(begunBy(load(jid(n), "t.echo")))
	}
	file, err := openLeft(filepath.Join(r.cfg.CacheDir, "jobs.journal"))
	must(err)
	must(file.Write(r.clock.Now(), journal.Record{Kind: journal.Begun, Key: jid(1), Link: l.Name(), Body: entry(1)},
		journal.Record{Kind: journal.Begun, Key: jid(2), Link: l.Name(), Body: entry(2)},
		journal.Record{Kind: journal.Returned, Key: jid(2), Link: l.Name(),
			Body: pack(payload.M("cmd", "_return", "id", "m1", "jid", jid(2), "fun", "t.echo", "return", "kept",
				"success", true, "retcode", int64(0)))},
		// still in the queue, too
		journal.Record{Kind: journal.Begun, Key: jid(4), Link: "gone.test_4506", Body: entry(4)},
		journal.Record{Kind: journal.Begun, Key: jid(9), Link: l.Name(), Body: entry(9)},
		journal.Record{Kind: journal.Gone, Key: jid(9)},
		journal.Record{Kind: journal.Returned, Key: "spoilt", Link: l.Name(), Body: []byte("\xc1")}))
	must(file.Close())
	old := filepath.Join(r.cfg.CacheDir, "spool", l.Name()) // of a release before the journal
	must(os.MkdirAll(old, 0o700))
	must(os.WriteFile(filepath.Join(old, jid(10)+".p"), pack(payload.M("cmd", "_return", "id", "m1", "jid", jid(10),
		"fun", "t.echo", "return", "of old", "success", true, "retcode", int64(0))), 0o600))
	must(os.WriteFile(filepath.Join(old, jid(11)+".p.tmp"), nil, 0o600))
	leave(proc, jid(10), entry(10))
	leave(proc, jid(12), pack(begunBy(load(jid(12), "t.echo")).Set("brine_master", l.Name())))
	leave(proc, jid(1), entry(1))
	leave(proc, jid(2), entry(2))
	leave(proc, jid(3), entry(3)) // of a minion of Salt
	leave(proc, jid(5), nil)
	leave(proc, "rubbish", []byte("\xc1"))
	for _, n := range []int{2, 4, 6, 7} { // the first is answered already
		leave(queue, fmt.Sprintf("queued_%d_%s.p", r.clock.Now().UnixMicro(), jid(n)),
			pack(load(jid(n), "t.echo", int64(n))))
		r.clock.Advance(1000)
	}
	must(os.WriteFile(filepath.Join(queue, "queued_1_x.p"), []byte("\xc1"), 0o600))

	r.up()
	f := r.master()
	for n, want := range map[int]any{1: sayLost, 2: "kept", 3: sayLost, 4: sayLost, 6: int64(6), 7: int64(7),
		10: "of old", 12: sayLost} {
		if got := f.awaitReturn(t, jid(n)).Value("return"); got != want {
			t.Errorf("job %d: %v, want %v", n, got, want)
		}
	}
	f.publish(jid(1), "t.echo", "x") // it had begun once: never again
	r.run(jid(8), "test.ping")
	r.awaitIdle(t)
	for _, n := range []int{1, 2, 3, 4, 6, 7, 10, 12} {
		once(t, f, jid(n))
	}
	for _, n := range []int{1, 2, 3, 4, 10, 12} {
		if r.fun.count(jid(n)) != 0 {
			t.Errorf("job %d ran again", n)
		}
	}
	r.awaitSpool(t, 0)
	r.log.Await(t, "a return is lost")
	if left := files(t, queue); len(left) != 1 || !strings.HasPrefix(left[0], "queued_1_x.p"+setaside.Mark) {
		t.Errorf("queue: %q, want what is damaged alone", left)
	}
	if left := files(t, filepath.Join(r.cfg.CacheDir, "spool")); len(left) != 0 {
		t.Errorf("old spool: %q", left)
	}
	for _, name := range []string{"rubbish", jid(5)} {
		if kept, _ := filepath.Glob(filepath.Join(r.cfg.CacheDir, setaside.Folder, name+setaside.Mark+"*")); len(
			kept) != 1 {
			t.Errorf("proc entry %s: %q was set aside", name, kept)
		}
	}
	r.log.Await(t, setaside.Text)
}

// TestChaos harms actors of all kinds while jobs run: every job that had begun is answered, none runs twice, and
// what is answered twice is the same return.
func TestChaos(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	rnd := rand.New(rand.NewPCG(1, 2))
	paths := []string{"EventBus", "Journal", "Refresher", "Dispatcher", "Jobs", "Master-master.test_4506",
		"Master-master.test_4506/ReturnSender", "Master-master.test_4506/Subscriber",
		"Master-master.test_4506/Authenticator"}
	const n = 400
	for i := range n {
		f.publish(jid(i), "t.echo", int64(i))
		if i%5 == 4 {
			harm(t, r, paths[rnd.IntN(len(paths))], []supervisor.Fault{supervisor.FaultPanic,
				supervisor.FaultExit}[rnd.IntN(2)])
		}
		if i%100 == 50 {
			for j := range i + 1 {
				f.awaitReturn(t, jid(j))
			}
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
		if got := r.fun.count(jid(i)); got > 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range n {
		for _, ret := range f.returns[jid(i)][1:] {
			if a, b := fmt.Sprint(ret.Value("return")), fmt.Sprint(f.returns[jid(i)][0].Value("return")); a != b {
				t.Errorf("job %d has two returns: %s and %s", i, a, b)
			}
		}
	}
}

// TestRestarts stops a minion many times with jobs at every stage.
func TestRestarts(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 60
	for i := range n {
		f.publish(jid(i), "t.echo", int64(i))
		if i%15 == 14 {
			r.awaitBegun(t, jid(i), 1)
			r.stop()
			r.again()
			actortest.Wait(t, "ready minion", r.ready)
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
	}
	r.awaitIdle(t)
	for i := range n {
		once(t, f, jid(i))
	}
}

// TestAnsweredWithoutJournal delivers a return that could not be put on disk: the next minion does not take the job
// for one that was never answered.
func TestAnsweredWithoutJournal(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.publish(jid(1), "t.block")
	r.awaitBegun(t, jid(1), 1)
	path := filepath.Join(r.cfg.CacheDir, "jobs.journal")
	if err := errors.Join(os.Remove(path), os.Mkdir(path+".new", 0o700)); err != nil { // it cannot be made anew
		t.Fatal(err)
	}
	r.clock.Advance(time.Second)
	r.fun.release()
	if got := f.awaitReturn(t, jid(1)).Value("return"); got != "released" {
		t.Errorf("return %v", got)
	}
	r.log.Await(t, sayNoJournal)
	r.awaitIdle(t)
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(time.Second)
	r.run(jid(2), "t.echo", "x")
	r.log.Await(t, sayJournalAgain)
	r.stop()
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	r.run(jid(3), "t.echo", "x")
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}
