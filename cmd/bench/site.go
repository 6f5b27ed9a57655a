package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/wire/client"
	"brine/wire/loopback"
	"brine/wire/zmq"
)

// turn is one run of a contender in one group: a directory with a master and everything around it.
type turn struct {
	*bench
	c        contender
	dir      string
	pub, ret int // ports, 0 until the master is configured
	ports    []*loopback.Port
	conf     *config.Master
	master   *process
	minions  []*process
	clients  []*client.Client
	zctx     *zmq.Context
}

// close ends all processes. The directory stays until the end of the run, because file systems are slow for a
// while after many files are removed, which would disturb the next contender.
func (t *turn) close() error {
	var errs []error
	for _, c := range t.clients {
		errs = append(errs, c.Close())
	}
	if t.zctx != nil {
		errs = append(errs, t.zctx.Close())
	}
	all := slices.Clone(t.minions)
	if t.master != nil {
		all = append(all, t.master)
	}
	for _, p := range all {
		errs = append(errs, p.kill())
	}
	errs = append(errs, endStrays(t.before)) // strays would write into the scratch directory during its removal
	for _, p := range t.ports {
		errs = append(errs, p.Release())
	}
	return errors.Join(errs...)
}

func (t *turn) add(row string, v float64) { t.rec.add(row, t.c.name, v) }

func (t *turn) addTime(row string, d time.Duration) { t.add(row, ms(d)) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// times is the number of repetitions: more for brine, fewer for real Salt, where a repetition takes seconds.
func (t *turn) times(brine, salt int) int {
	n := salt
	if t.c.ours {
		n = brine
	}
	if t.opt.Quick {
		n = max(n/4, 1)
	}
	return n
}

// env protects the tools from the user's files and settings.
func (t *turn) env() []string {
	env := append(os.Environ(), "HOME="+t.dir, "SALT_CONFIG_DIR=", "LC_ALL=C.UTF-8", "COLUMNS=80",
		"PYTHONWARNINGS=ignore")
	if t.c.ours && t.opt.Profile != "" {
		env = append(env, "TMPDIR="+t.opt.Profile)
	}
	return env
}

func (t *turn) masterDir() string { return filepath.Join(t.dir, "etc") }

func (t *turn) minionDir(id string) string { return filepath.Join(t.dir, id, "etc") }

// configureMaster reserves two ports and writes the master's file. Only places and names differ from Salt's
// defaults.
func (t *turn) configureMaster() error {
	me, err := user.Current()
	if err != nil {
		return fmt.Errorf("who runs this: %w", err)
	}
	for _, number := range []*int{&t.pub, &t.ret} {
		p, err := loopback.Reserve()
		if err != nil {
			return err
		}
		*number, t.ports = p.Number, append(t.ports, p)
	}
	text := fmt.Sprintf("root_dir: %s\ninterface: 127.0.0.1\npublish_port: %d\nret_port: %d\nuser: %s\nauto_accept: "+
		"True\n",
		filepath.Join(t.dir, "m"), t.pub, t.ret, me.Username)
	if t.opt.Version == 2 {
		text += "minimum_auth_version: 0\n"
	}
	path := filepath.Join(t.masterDir(), "master")
	if err := write(path, text); err != nil {
		return err
	}
	t.conf, err = config.LoadMaster(path, nil)
	return err
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// startMaster starts the master and waits for its first answer.
func (t *turn) startMaster(ctx context.Context) (took time.Duration, err error) {
	start := time.Now()
	t.master, err = startProcess(t.c.name+" master", filepath.Join(t.dir, "master.log"), t.env(),
		t.c.tool("salt-master"), "-c", t.masterDir(), "-l", "warning")
	if err != nil {
		return 0, err
	}
	if err := t.awaitPort(ctx); err != nil {
		return 0, err
	}
	if err := t.ask(ctx); err != nil {
		return 0, errors.Join(err, t.master.err())
	}
	return time.Since(start), nil
}

// awaitPort waits until a process listens on the request port.
func (t *turn) awaitPort(ctx context.Context) error {
	return t.await(ctx, time.Minute, time.Millisecond, func() error {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", t.ret), time.Second)
		if err == nil {
			conn.Close()
		}
		return err
	})
}

// await repeats try until it succeeds. It gives up after limit, or when a daemon of this turn has ended.
func (t *turn) await(ctx context.Context, limit, pause time.Duration, try func() error) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; {
		err := try()
		if err == nil {
			return nil
		}
		if t.master != nil && t.master.ended() {
			return t.master.err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("not within %v: %w", limit, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// startMinion starts a minion of the same implementation.
func (t *turn) startMinion(id string) error {
	err := write(filepath.Join(t.minionDir(id), "minion"), fmt.Sprintf(
		"root_dir: %s\nmaster: 127.0.0.1\npublish_port: %d\nmaster_port: %d\nid: %s\nuser: "+
			"%s\nacceptance_wait_time: 1\nrandom_reauth_delay: 1\n",
		filepath.Join(t.dir, id), t.pub, t.ret, id, t.conf.User))
	if err != nil {
		return err
	}
	p, err := startProcess(t.c.name+" minion "+id, filepath.Join(t.dir, id+".log"), t.env(),
		t.c.tool("salt-minion"), "-c", t.minionDir(id), "-l", "warning", "--disable-keepalive")
	if err != nil {
		return err
	}
	t.minions = append(t.minions, p)
	return nil
}

// account starts to count processor time. The returned function prints how much the daemons and this process
// have used since. This process must not use so much that it affects the result. The time of other processes
// tells how reliable the wall times are.
func (t *turn) account(what string) (end func()) {
	own, daemons, busy, start := ownCPU(), t.cpus(), busyCPU(), time.Now()
	return func() {
		wall, mine := time.Since(start), ownCPU()-own
		all, parts := mine, make([]string, 0, len(daemons))
		for i, now := range t.cpus() {
			all += now - daemons[i]
			parts = append(parts, fmt.Sprint((now - daemons[i]).Round(time.Millisecond)))
		}
		t.say("  %s: %v of wall time; processor time of master and minions %s, of this process %v, of others %v", what,
			wall.Round(time.Millisecond), strings.Join(parts, " + "), mine.Round(time.Millisecond),
			(busyCPU() - busy - all).Round(time.Millisecond))
	}
}

// cpus returns the processor time that each daemon has used so far, the master first.
func (t *turn) cpus() []time.Duration {
	list := []time.Duration{t.master.cpu()}
	for _, m := range t.minions {
		list = append(list, m.cpu())
	}
	return list
}

// pause waits until the daemons are at rest.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
