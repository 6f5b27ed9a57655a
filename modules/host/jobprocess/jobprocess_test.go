package jobprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// fakeMinion is the host of these tests.
type fakeMinion struct {
	modtest.Host
	lines modtest.Log
	name  string
	begun chan int // pids of jobs that wait
	asked chan struct{}
	quit  chan struct{}
}

func newMinion() *fakeMinion {
	return &fakeMinion{begun: make(chan int, 500), asked: make(chan struct{}, 1), quit: make(chan struct{}, 1)}
}

func (m *fakeMinion) Request(ctx context.Context, load *payload.Map) (any, error) {
	v, err := m.Host.Request(ctx, load.Clone().Set("of", m.name))
	return v, err
}

func (m *fakeMinion) MasterByHost(host string) (loader.MasterChannel, bool) {
	if host != "other" {
		return nil, false
	}
	return &fakeMinion{name: "other"}, true
}

func (m *fakeMinion) FireLocal(ctx context.Context, tag string, data any) bool {
	if d, ok := data.(*payload.Map); ok && tag == "begun" {
		pid, _ := d.Int("pid")
		m.begun <- int(pid)
	}
	if tag == "is it asked for?" {
		return len(m.asked) > 0
	}
	return m.Host.FireLocal(ctx, tag, data)
}

func (m *fakeMinion) AwaitLocal(ctx context.Context, tag string, data any, answer string) (*payload.Map, bool) {
	if answer == "never" {
		m.asked <- struct{}{}
		<-ctx.Done()
		m.quit <- struct{}{}
		return nil, false
	}
	return m.Host.AwaitLocal(ctx, tag, data, answer)
}

func (m *fakeMinion) Reload() error { return errors.New("not now") }

func (m *fakeMinion) Compile(_ context.Context, q loader.PillarQuery) (*payload.Map, error) {
	return q.Override.Clone().Set("saltenv", q.Saltenv).Set("pillarenv", q.Pillarenv), nil
}

func (m *fakeMinion) Actors(_ context.Context, path string) (*payload.Map, error) {
	return nil, fmt.Errorf("no actor %s", path)
}

func (m *fakeMinion) JobList(context.Context) (*payload.Map, error) {
	return payload.M("running", []any{}), nil
}

func (m *fakeMinion) JobFacts(_ context.Context, jid string) (*payload.Map, error) {
	return payload.M("outcome", "unknown", "of", jid), nil
}

// env is what jobs run in.
func (m *fakeMinion) env(t testing.TB) *loader.Env {
	env := modtest.Env(t, payload.M("cachedir", "/nowhere"))
	env.Host = loader.Host{Master: m, Events: m, Jobs: m, Minion: m, Log: &m.lines, Secrets: m, Daemon: m}
	pillar := payload.M("secret", "x")
	env.Pillar = func() *payload.Map { return pillar }
	return env
}

func launcher(t testing.TB, limits Limits) *Launcher {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Path: self, Limits: limits})
}

func job(fun string, args ...any) loader.Job {
	return loader.Job{Load: payload.M("fun", fun, "arg", args, "tgt", "*", "jid", "20260102030405000001", "ret", "",
		"user", "root"), Connected: true}
}

// run runs one job to its end.
func run(t testing.TB, l *Launcher, m *fakeMinion, j loader.Job) Outcome {
	t.Helper()
	p, err := l.Start("ProcessPayload(jid=1)")
	if err != nil {
		t.Fatal(err)
	}
	out := p.Run(t.Context(), m.env(t), j)
	p.Wait()
	return out
}

// TestModules: modules decide by the grains of the minion whether they load in the process of a job, and nothing that a
// function keeps goes from one job to the next.
func TestModules(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	for range 2 {
		out := run(t, l, m, job("choosy.count"))
		if got, want := out.Return.Value(), payload.M("file", "here", "before", int64(0)); !payload.Equal(got, want) {
			t.Errorf("return %v, want %v", got, want)
		}
	}
	out := run(t, l, m, job("there.count"))
	if got := out.Return.Value(); got != "'there' __virtual__ returned False: there is for web2" {
		t.Errorf("return %v", got)
	}
}

// TestProviders: the files that the minion's option providers names answer in the process of a job, too.
func TestProviders(t *testing.T) {
	p, err := launcher(t, Limits{}).Start("ProcessPayload(jid=1)")
	if err != nil {
		t.Fatal(err)
	}
	env := newMinion().env(t)
	env.Registry.Provide([]loader.Provider{{Name: "other", File: "x"}, {Name: "choosy", File: "there"}})
	out := p.Run(t.Context(), env, job("choosy.count"))
	p.Wait()
	if got := out.Return.Value(); !payload.Equal(got, payload.M("file", "there", "before", int64(0))) {
		t.Errorf("return %v", got)
	}
}

// TestReturn carries a job to the process and its return back, unchanged.
func TestReturn(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	args := []any{"text", []byte{0xff, 0}, int64(-1), uint64(1) << 63, 1.5, nil, true, payload.M("b", []any{}, "a",
		payload.NewMap(0))}
	out := run(t, l, m, job("w.echo", args...))
	if got := out.Return.Value(); !payload.Equal(got, args) {
		t.Errorf("return %v, want %v", got, args)
	}
	if !payload.Equal(out.Return.FunArgs(), args) || out.Return.Field("success") != true ||
		out.Return.JID() != "20260102030405000001" {
		t.Errorf("return %v", out.Return)
	}
	facts := run(t, l, m, job("w.facts")).Return.Map().Map("return")
	if pid, _ := facts.Int("pid"); int(pid) == os.Getpid() || pid == 0 {
		t.Errorf("it ran in process %d", pid)
	}
	facts.Delete("pid")
	want := payload.M("id", "web1", "jid", "20260102030405000001", "opts", payload.M("cachedir", "/nowhere"), "grains",
		payload.M("id", "web1"), "pillar", payload.M("secret", "x"))
	if !payload.Equal(facts, want) {
		t.Errorf("the function sees %v, want %v", facts, want)
	}
}

// TestHost lets a function ask all that a minion offers.
func TestHost(t *testing.T) {
	m := newMinion()
	m.Answers = []any{payload.M("raw", []byte{0xfe})}
	m.Reply = payload.M("came", true)
	m.Jobs = []*payload.Map{payload.M("jid", "20260102030405000001")}
	out := run(t, launcher(t, Limits{}), m, job("w.host"))
	want := payload.M("request", payload.M("raw", []byte{0xfe}), "other", true, "none", false, "event",
		payload.M("came", true), "got", true, "text", "Signal 15 sent to job 20260102030405000001 at pid 7", "ok", true,
		"ghost", false, "master", true, "local", true, "running", []any{payload.M("jid", "20260102030405000001")},
		"pillar", payload.M("o", 1, "saltenv", "base", "pillarenv", ""), "actors", nil, "list",
		payload.M("running", []any{}), "actors_err", "no actor nosuch", "reload", "not now", "runner", false)
	got := out.Return.Map().Map("return")
	got.Set("actors", nil) // an empty map is no map
	if !payload.Equal(got, want) {
		t.Errorf("the host answers\n%v, want\n%v", got, want)
	}
	lines, names := m.lines.Lines(), m.lines.Names()
	if !slices.Equal(lines, []string{"WARN a line", "DEBUG another line"}) || !slices.Equal(names,
		[]string{"a.logger"}) {
		t.Errorf("log %q of %q", lines, names)
	}
	if asked := m.Asked(); len(asked) != 1 || !payload.Equal(asked[0].Value("raw"), []byte{0xff}) {
		t.Errorf("the master was asked %v", asked)
	}
	m.Answers = []any{fmt.Errorf("no: %w", loader.ErrRequestTimeout)}
	if got := run(t, launcher(t, Limits{}), m, job("w.ask")).Return.Value(); got != true {
		t.Errorf("a timeout of the master is known as one: %v", got)
	}
	if got := run(t, launcher(t, Limits{}), m, job("w.giveup")).Return.Value(); got != false {
		t.Errorf("an event that never comes: %v", got)
	}
	await(t, "the minion hears that nobody waits", m.quit)
}

// TestOffers fails when loader.Host gets a member that is not carried to the process.
func TestOffers(t *testing.T) {
	m := newMinion()
	local := []string{"Runner", "Wheel", "Local", // of a master's host; a minion has none
		"Transfers"} // whoever wants a file here is alone with it (decision 0054)
	full := loader.Host{Master: m, Events: m, Jobs: m, Minion: m, Log: &m.lines, Secrets: m, Daemon: m}
	got := newRemote(nil).host(offers(&full))
	for i, typ := 0, reflect.TypeFor[loader.Host](); i < typ.NumField(); i++ {
		name := typ.Field(i).Name
		if there := !reflect.ValueOf(got).Field(i).IsNil(); there == slices.Contains(local, name) {
			t.Errorf("loader.Host.%s: in the process it is there: %v", name, there)
		}
	}
	if none := newRemote(nil).host(offers(&loader.Host{})); !reflect.ValueOf(none).IsZero() {
		t.Errorf("a minion without members offers %v", none)
	}
}

// TestDeaths are the ends of a process without a return, and what is said of them.
func TestDeaths(t *testing.T) {
	for _, tt := range []struct {
		fun    string
		limits Limits
		want   []string // in the text
	}{
		{"w.crash", Limits{}, []string{"The process of the job ended with exit code 2, without a return",
			"panic: boom far away"}},
		{"w.exit", Limits{}, []string{"The process of the job ended with exit code 7, without a return"}},
		{"w.grow", Limits{Memory: 64 << 20}, []string{"The job was ended: out of memory, with a limit of 67108864 " +
			"bytes (job_memory_limit)"}},
		{"w.burn", Limits{CPU: time.Second}, []string{"The job was ended by signal 24 (CPU time limit exceeded): it " +
			"has used its 1s of processor time (job_cpu_limit)"}},
	} {
		t.Run(tt.fun, func(t *testing.T) {
			t.Parallel()
			out := run(t, launcher(t, tt.limits), newMinion(), job(tt.fun))
			if out.Return != nil {
				t.Fatalf("it returned %v", out.Return)
			}
			for _, want := range tt.want {
				if text := out.Death.Text(); !strings.Contains(text, want) {
					t.Errorf("%q, want %q; %+v", text, want, out.Death)
				}
			}
		})
	}
	for fun, want := range map[string]string{"w.panic": "RuntimeError: boom", "w.odd": "The return cannot be packed",
		"w.nosuch": "'w.nosuch' is not available."} {
		out := run(t, launcher(t, Limits{}), newMinion(), job(fun))
		if text := fmt.Sprint(out.Return.Value()); !strings.Contains(text, want) ||
			out.Return.Field("success") != false {
			t.Errorf("%s: %v, want %q", fun, out.Return, want)
		}
		if out.Crashed != (fun == "w.panic") {
			t.Errorf("%s: an exception: %v", fun, out.Crashed)
		}
	}
}

// TestSignals ends processes by signals, and what they have started with them.
func TestSignals(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, unix.SIGHUP) // under nohup it is ignored, and the processes inherit that
	t.Cleanup(func() { signal.Stop(heard) })
	for _, tt := range []struct {
		name string
		send func(p *Process)
		want string
	}{
		{"term", func(p *Process) { p.Signal(unix.SIGTERM) }, "The job was ended by signal 15 (terminated)"},
		{"kill", func(p *Process) { p.Signal(unix.SIGKILL) }, "The job was ended by signal 9 (killed)"},
		{"another's kill", func(p *Process) {
			_ = unix.Kill(p.PID(), unix.SIGKILL)
		}, "The job was ended by signal 9 (killed)"},
		{"stopped, then term", func(p *Process) {
			p.Signal(unix.SIGSTOP)
			p.Signal(unix.SIGTERM)
		}, "The job was ended by signal 15 (terminated)"},
		{"hangup", func(p *Process) { p.Signal(unix.SIGHUP) }, "The job was ended by signal 1 (hangup)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, m := launcher(t, Limits{}), newMinion()
			p, err := l.Start("x")
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan Outcome, 1)
			pids := t.TempDir() + "/pids"
			// The command ignores SIGTERM and has a group of its own, its child does not ignore it.
			line := "trap '' TERM HUP; echo $$ >> " + pids + "; sleep 600 & echo $! >> " + pids + "; echo ready >> " +
				pids + "; wait"
			go func() { got <- p.Run(t.Context(), m.env(t), job("cmd.run", line)) }()
			text := waitFor(t, pids, "ready")
			tt.send(p)
			select {
			case out := <-got:
				if text := out.Death.Text(); text != tt.want {
					t.Errorf("%q, want %q", text, tt.want)
				}
			case <-time.After(patience):
				t.Fatal("the process does not end")
			}
			p.Wait()
			for word := range strings.FieldsSeq(strings.TrimSuffix(text, "ready\n")) {
				pid, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				ends(t, pid)
			}
			p.Signal(unix.SIGKILL) // to nobody
		})
	}
}

// TestSignalBeforeResult: what its commands die of is no result of a process that was told to end. Many run at once, so
// that some of them are slow to die.
func TestSignalBeforeResult(t *testing.T) {
	l := launcher(t, Limits{})
	for range 24 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			m := newMinion()
			p, err := l.Start("x")
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan Outcome, 1)
			ready := t.TempDir() + "/ready"
			go func() {
				got <- p.Run(t.Context(), m.env(t), job("cmd.run", "echo ready > "+ready+"; exec sleep 600"))
			}()
			waitFor(t, ready, "ready")
			p.Signal(unix.SIGTERM)
			if out := await(t, "end", got); out.Return != nil || out.Death.Text() != "The job was ended by signal "+
				"15 (terminated)" {
				t.Errorf("got %v, %q", out.Return, out.Death.Text())
			}
			p.Wait()
		})
	}
}

// TestStop ends a process with the context of its job.
func TestStop(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	p, err := l.Start("x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	got := make(chan Outcome, 1)
	go func() { got <- p.Run(ctx, m.env(t), job("w.wait")) }()
	if pid := await(t, "job", m.begun); pid != p.PID() {
		t.Errorf("the job runs in %d, not %d", pid, p.PID())
	}
	stop()
	if out := await(t, "end", got); out.Death.Text() != "The job was ended by signal 9 (killed)" {
		t.Errorf("%+v", out)
	}
	p.Wait()
}

// TestMinionGone ends the process of a minion that has gone, with its commands.
func TestMinionGone(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	p, err := l.Start("x")
	if err != nil {
		t.Fatal(err)
	}
	pids := t.TempDir() + "/pids"
	s := newStream(p.conn)
	if err := p.begin(s, m.env(t), job("cmd.run", "sleep 600 & echo $! >> "+pids+"; echo ready >> "+pids+
		"; wait")); err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.Fields(waitFor(t, pids, "ready"))[0])
	if err := unix.Shutdown(int(p.conn.Fd()), unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	p.reap()
	if status := p.cmd.ProcessState.String(); status != "signal: killed" {
		t.Errorf("the process ended: %s", status)
	}
	ends(t, pid)
}

// ends waits for the end of a process of a job, which was killed before: the kernel takes its time.
func ends(t *testing.T, pid int) {
	t.Helper()
	for limit := time.Now().Add(patience); lives(pid); <-time.After(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("process %d of the job lives on", pid)
		}
	}
}

// TestDaemon leaves alone what has left the job, and what a finished job has begun.
func TestDaemon(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	for _, j := range []loader.Job{job("w.daemon"), job("cmd.run", "sleep 600 >/dev/null 2>&1 & echo $!")} {
		out := run(t, l, m, j)
		text := out.Return.Text()
		pid, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || !lives(pid) {
			t.Fatalf("%v: the daemon does not live: %v, %v", j.Load.Value("fun"), out, err)
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// TestMany runs many jobs at once, some of which die, and leaves no zombie and no descriptor.
func TestMany(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	run(t, l, m, job("w.echo"))
	before := descriptors(t)
	var all sync.WaitGroup
	places := make(chan struct{}, 8)
	for i := range 120 {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			fun := []string{"w.echo", "w.exit", "w.crash"}[i%3]
			if out := run(t, l, m, job(fun)); (out.Return == nil) == (fun == "w.echo") {
				t.Errorf("%s: %+v", fun, out)
			}
		})
	}
	all.Wait()
	if z := zombies(t); len(z) > 0 {
		t.Errorf("zombies: %v", z)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
}

// TestCommandLine shows what the process is, and no more.
func TestCommandLine(t *testing.T) {
	l, m := launcher(t, Limits{}), newMinion()
	p, err := l.Start("ProcessPayload(jid=20260102030405000001)")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan Outcome, 1)
	go func() { got <- p.Run(t.Context(), m.env(t), job("w.wait")) }()
	var line []byte
	for limit := time.Now().Add(patience); len(line) == 0 && err == nil && time.Now().Before(limit); {
		// empty until the kernel has laid it out
		line, err = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID()))
	}
	if want := Name + "\x00ProcessPayload(jid=20260102030405000001)\x00"; err != nil || string(line) != want {
		t.Errorf("command line %q, want %q: %v", line, want, err)
	}
	p.Signal(unix.SIGKILL)
	await(t, "end", got)
	p.Wait()
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("not reached")
	}
}

// waitFor waits until a file has a line, and returns the file.
func waitFor(t *testing.T, path, line string) string {
	t.Helper()
	for limit := time.Now().Add(patience); ; {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), line+"\n") {
			return string(b)
		}
		if time.Now().After(limit) {
			t.Fatalf("no %q in %s", line, path)
		}
		<-time.After(time.Millisecond)
	}
}

// lives tells whether a process is there and no zombie.
func lives(pid int) bool {
	return slices.ContainsFunc(relations(), func(r relation) bool { return r.pid == pid })
}

// zombies lists the children of this process that nobody has waited for.
func zombies(t *testing.T) (pids []string) {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if err != nil {
		t.Skip(err)
	}
	for pid := range strings.FieldsSeq(string(list)) {
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// BenchmarkJob is a whole job in a process of its own.
func BenchmarkJob(b *testing.B) {
	l, m := launcher(b, Limits{}), newMinion()
	b.ReportAllocs()
	for b.Loop() {
		run(b, l, m, job("w.echo", "x"))
	}
}
