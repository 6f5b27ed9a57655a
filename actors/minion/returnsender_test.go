package minion

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

func (r *rig) spool() string { return filepath.Join(r.cfg.CacheDir, "spool", "master.test_4506") }

// TestOutage keeps the returns of a master that is away, and delivers each once when it is back.
func TestOutage(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 150 // more than are held in memory
	f.set(func() { f.down = true })
	for i := range n {
		f.publish(jid(i), "t.echo", int64(i))
	}
	for i := range n {
		r.awaitBegun(t, jid(i), 1)
	}
	r.log.Await(t, "the return waits for the master")
	r.awaitIdle(t)
	if names := files(t, r.spool()); len(names) != n {
		t.Errorf("%d returns in the spool, want %d", len(names), n)
	}
	f.set(func() { f.down = false })
	f.mu.Lock()
	to := f.to
	f.mu.Unlock()
	to.link(false)
	to.link(true)                      // the publish port is back: nobody waits for the next retry
	r.clock.Advance(2 * retryPauseMax) // but those whose request was under way at that moment
	for i := range n {
		if got := f.awaitReturn(t, jid(i)).Value("return"); got != int64(i) {
			t.Errorf("return of job %d: %v", i, got)
		}
	}
	r.run(jid(n), "t.echo", "x")
	r.awaitSpool(t, 0)
	for i := range n {
		once(t, f, jid(i))
	}
}

// awaitSpool waits until so many returns are on disk.
func (r *rig) awaitSpool(t *testing.T, n int) {
	t.Helper()
	limit := time.After(patience)
	for {
		names := files(t, r.spool())
		if len(names) == n {
			return
		}
		select {
		case <-limit:
			t.Fatalf("spool: %q, want %d", names, n)
		default:
		}
	}
}

// TestRetryTimer tries again by itself, with growing pauses.
func TestRetryTimer(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.log.Await(t, "the return waits for the master")
	f.set(func() { f.down = false })
	r.clock.Advance(2 * retryPause)
	f.awaitReturn(t, jid(1))
}

// TestSpoolLimits drops the oldest returns, and says so.
func TestSpoolLimits(t *testing.T) {
	for _, tt := range []struct{ name, extra string }{
		{"size", "return_spool_max_bytes: 2000\n"},
		{"age", "return_spool_max_age: 60\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.extra).up()
			f := r.master()
			f.set(func() { f.down = true })
			for i := range 40 {
				f.publish(jid(i), "t.echo", strings.Repeat("x", 30))
				r.awaitBegun(t, jid(i), 1)
			}
			r.awaitIdle(t)
			r.clock.Advance(2 * time.Minute)
			r.log.Await(t, "returns are dropped: the master was away for too long")
		})
	}
}

// TestFullDisk says once that returns and proc entries cannot be kept; the returns are delivered all the same.
func TestFullDisk(t *testing.T) {
	r := newRig(t, "")
	blocked := filepath.Dir(r.spool())
	if err := os.MkdirAll(r.cfg.CacheDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{blocked, filepath.Join(r.cfg.CacheDir, "proc")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil { // a file where the directory should be
			t.Fatal(err)
		}
	}
	r.up()
	f := r.master()
	f.set(func() { f.down = true })
	for i := range 20 {
		f.publish(jid(i), "t.echo", "x")
		r.awaitBegun(t, jid(i), 1)
	}
	r.log.Await(t, "returns cannot be kept on disk")
	r.log.Await(t, "jobs have no proc entries")
	harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
	f.set(func() { f.down = false })
	r.clock.Advance(time.Minute)
	for i := range 20 {
		f.awaitReturn(t, jid(i))
	}
	for _, text := range []string{"returns cannot be kept on disk", "jobs have no proc entries"} {
		count := 0
		for _, line := range r.log.Lines() {
			if strings.Contains(line, text) {
				count++
			}
		}
		if count > 2 { // once more by the second incarnation
			t.Errorf("%q said %d times", text, count)
		}
	}
}

// TestReturnSenderDies harms the ReturnSender while returns are under way: each arrives.
func TestReturnSenderDies(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 100
	for i := range n {
		f.publish(jid(i), "t.echo", "x")
		if i%10 == 5 {
			harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
		if got := r.fun.count(jid(i)); got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
}

// TestRefusedReturn keeps a return that the master cannot read, as one it has not got.
func TestRefusedReturn(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	refused := 0
	f.set(func() {
		f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdReturn && refused < 3 {
				refused++
				f.restart(nil) // the session is void before the answer is there
				return nil, true
			}
			return nil, false
		}
	})
	f.publish(jid(1), "t.echo", "x")
	r.awaitBegun(t, jid(1), 1)
	limit := time.After(patience)
	for len(files(t, r.spool())) > 0 || r.fun.count(jid(1)) == 0 {
		select {
		case <-limit:
			t.Fatal("the return stays")
		default:
		}
		r.clock.Advance(time.Second)
	}
}

func TestSpool(t *testing.T) {
	s := &spool{dir: filepath.Join(t.TempDir(), "a", "b"), maxBytes: 100, maxAge: time.Hour}
	if all, err := s.list(); err != nil || all != nil {
		t.Errorf("a spool that is not there: %v, %v", all, err)
	}
	for _, key := range []string{"1", "2", "2"} {
		if _, err := s.put(key, payload.M("jid", key)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.put("3", payload.M("jid", make(chan int))); !errors.Is(err, errUnpackable) {
		t.Errorf("a value without bytes: %v", err)
	}
	for name, content := range map[string]string{"4.p": "\xc1", "5.p.tmp": "half"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.list()
	if err != nil || len(all) != 3 {
		t.Errorf("list: %v, %v", all, err)
	}
	if load, err := s.get("1"); err != nil || load.Str("jid") != "1" {
		t.Errorf("get: %v, %v", load, err)
	}
	if _, err := s.get("4"); err == nil {
		t.Error("a spoilt return was read")
	}
	if names := files(t, s.dir); !slices.Equal(names, []string{"1.p", "2.p", "4.p.bad"}) {
		t.Errorf("files %q", names)
	}
	if !s.has("1") || s.has("4") {
		t.Error("has is wrong")
	}
}

func TestSurplus(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	all := []spooled{{"a", 50, now.Add(-3 * time.Hour)}, {"b", 30, now.Add(-2 * time.Hour)}, {"c", 30, now.Add(-time.Minute)}}
	for _, tt := range []struct {
		bytes int64
		age   time.Duration
		want  string
	}{
		{0, 0, ""}, {110, 0, ""}, {109, 0, "a"}, {59, 0, "ab"}, {1, 0, "abc"}, {0, 2*time.Hour + 1, "a"}, {0, time.Hour, "ab"}, {40, time.Hour, "ab"}, {20, time.Hour, "abc"},
	} {
		s := &spool{maxBytes: tt.bytes, maxAge: tt.age}
		got := ""
		for _, d := range s.surplus(all, now) {
			got += d.key
		}
		if got != tt.want {
			t.Errorf("%d bytes, %v: dropped %q, want %q", tt.bytes, tt.age, got, tt.want)
		}
	}
}
