package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// trio are the minions of the small site.
var trio = [...]string{"m1", "m2", "m3"}

// life measures how fast an idle master starts and ends.
func (t *turn) life(ctx context.Context) error {
	if err := t.configureMaster(); err != nil {
		return err
	}
	if _, err := t.startMaster(ctx); err != nil { // the first start makes keys
		return err
	}
	for range t.times(10, 3) {
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		took, err := t.master.stop()
		if err != nil {
			return err
		}
		t.addTime(rowStopMaster, took)
		if took, err = t.startMaster(ctx); err != nil {
			return err
		}
		t.addTime(rowStart, took)
	}
	return nil
}

// three measures a master with three minions of the same implementation.
func (t *turn) three(ctx context.Context) error {
	if err := t.configureMaster(); err != nil {
		return err
	}
	if _, err := t.startMaster(ctx); err != nil {
		return err
	}
	for _, id := range trio {
		if err := t.startMinion(id); err != nil {
			return err
		}
	}
	return errors.Join(t.withTrio(ctx), t.stopTrio(ctx))
}

func (t *turn) withTrio(ctx context.Context) error {
	c, err := t.newClient()
	if err != nil {
		return err
	}
	l, err := listen(ctx, c)
	if err != nil {
		return err
	}
	defer l.close()
	err = t.await(ctx, time.Minute, 100*time.Millisecond, func() error {
		_, missing, err := l.jobTo(ctx, c, "*", len(trio), 2*time.Second)
		if err == nil && missing > 0 {
			err = errLate
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("first answer of three minions: %w", err)
	}
	if err := t.idleMemory(ctx); err != nil {
		return err
	}
	err = t.commands(ctx)
	for range t.times(200, 30) {
		if !t.rec.wants(rowWarm) {
			break
		}
		took, missing, jobErr := l.jobTo(ctx, c, trio[0], 1, 30*time.Second)
		if jobErr != nil || missing > 0 {
			return errors.Join(err, fmt.Errorf("warm job: %d missing: %w", missing, jobErr))
		}
		t.addTime(rowWarm, took)
	}
	return errors.Join(err, t.rate(ctx, l))
}

// idleMemory reads the memory of daemons at rest after their first work.
func (t *turn) idleMemory(ctx context.Context) error {
	if !t.rec.wantsAny([]string{rowIdleMaster, rowIdleMasterP, rowIdleMinion, rowIdleMinionP}) {
		return nil
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	rss, pss := t.master.memory()
	t.add(rowIdleMaster, rss)
	t.add(rowIdleMasterP, pss)
	for _, m := range t.minions {
		rss, pss := m.memory()
		t.add(rowIdleMinion, rss)
		t.add(rowIdleMinionP, pss)
	}
	return nil
}

// command is a command line to measure. Its output must contain the given texts.
type command struct {
	row  string
	tool string
	args []string
	want string
}

// commands measures the command lines in turn.
func (t *turn) commands(ctx context.Context) error {
	master := []string{"-c", t.masterDir()}
	list := []command{
		{rowPing3, "salt", append(master, "*", "test.ping"), "True"},
		{rowCall, "salt-call", []string{"-c", t.minionDir(trio[0]), "--local", "test.ping"}, "True"},
		{rowKeys, "salt-key", append(master, "-L"), trio[2]},
		{rowVersion, "salt", []string{"--version"}, "salt "},
	}
	var errs []error
	for _, cmd := range list {
		if t.rec.wants(cmd.row) {
			errs = append(errs, t.command(ctx, cmd))
		}
	}
	return errors.Join(errs...)
}

func (t *turn) command(ctx context.Context, cmd command) error {
	for i := range t.times(20, 4) + 1 {
		took, out, err := runTool(ctx, t.env(), t.c.tool(cmd.tool), cmd.args...)
		if err == nil && !strings.Contains(out, cmd.want) {
			err = fmt.Errorf("%s %s prints no %q: %.200q", cmd.tool, strings.Join(cmd.args, " "), cmd.want, out)
		}
		if err != nil {
			t.rec.fail([]string{cmd.row}, t.c.name, err)
			return err
		}
		if i > 0 { // the first run fills the page cache
			t.addTime(cmd.row, took)
		}
	}
	return nil
}

// sixty is the number of concurrent jobs.
const sixty = 60

// rate measures how many jobs one minion answers per second.
func (t *turn) rate(ctx context.Context, l *listener) error {
	if !t.rec.wants(rowRate) {
		return nil
	}
	warm, span := 2*time.Second, 6*time.Second
	if t.opt.Quick {
		warm, span = time.Second, 3*time.Second
	}
	if !t.c.ours {
		span *= 2
	}
	defer t.profile(t.master, "rate-master")()
	defer t.profile(t.minions[0], "rate-minion")()
	var work []func(context.Context) error
	for range sixty {
		c, err := t.newClient()
		if err != nil {
			return err
		}
		work = append(work, func(ctx context.Context) error {
			_, missing, err := l.jobTo(ctx, c, trio[0], 1, time.Minute)
			if err != nil || missing > 0 {
				return fmt.Errorf("jobs at once: %d missing: %w", missing, err)
			}
			return nil
		})
	}
	return t.rateOf(ctx, rowRate, warm, span, work)
}

// rateOf runs all functions of work concurrently and repeatedly. After the time warm it measures for the time
// span how many calls per second end.
func (t *turn) rateOf(ctx context.Context, row string, warm, span time.Duration,
	work []func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var answered atomic.Int64
	errs := make(chan error, len(work))
	for _, once := range work {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := once(ctx); err != nil {
					if ctx.Err() == nil {
						errs <- err
					}
					return
				}
				answered.Add(1)
			}
		})
	}
	err := pause(ctx, warm)
	account := t.account(row)
	before, start := answered.Load(), time.Now()
	err = errors.Join(err, pause(ctx, span))
	n, took := answered.Load()-before, time.Since(start)
	account()
	cancel()
	wg.Wait()
	if err == nil && len(errs) > 0 {
		err = <-errs
	}
	if err == nil {
		t.add(row, float64(n)/took.Seconds())
	}
	return err
}

// stopTrio measures how fast idle minions end.
func (t *turn) stopTrio(ctx context.Context) error {
	if !t.rec.wants(rowStopMinion) {
		return nil
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	for _, m := range t.minions {
		took, err := m.stop()
		if err != nil {
			return err
		}
		t.addTime(rowStopMinion, took)
	}
	return nil
}

// profile lets a brine daemon write its CPU profile into the directory for profiles. The returned function ends
// it.
func (t *turn) profile(p *process, name string) (end func()) {
	if t.opt.Profile == "" || !t.c.ours {
		return func() {}
	}
	t.say("  profile %s: process %d, below %s", name, p.cmd.Process.Pid, filepath.Clean(t.opt.Profile))
	p.profile(true)
	return func() { p.profile(false) }
}
