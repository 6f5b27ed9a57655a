package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/cmd/fleet"
	"brine/wire/crypt"
)

// manyMinions is large enough to show costs that grow faster than the number of minions.
const manyMinions = 10_000

// errOnlyOurs is the reason why real Salt takes no part: its sign-ins alone would take minutes.
var errOnlyOurs = errors.New("measured for brine alone")

// many measures the command line with ten thousand emulated minions. salt, the master and the emulation share
// the machine.
func (t *turn) many(ctx context.Context) error {
	if !t.c.ours {
		return errOnlyOurs
	}
	if err := t.configureMaster(); err != nil {
		return err
	}
	if _, err := t.startMaster(ctx); err != nil {
		return err
	}
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f, err := fleet.Start(ctx, fleet.Options{Minions: manyMinions, Prefix: "emu", Host: "127.0.0.1", RetPort: t.ret,
		PublishPort: t.pub, Key: key, Version: t.opt.Version})
	if err != nil {
		return err
	}
	err = t.await(ctx, 10*time.Minute, 50*time.Millisecond, func() error {
		if now := f.Counts(); now.Up < manyMinions {
			return fmt.Errorf("%d of %d emulated minions signed in, %d connected: %v", now.SignedIn, manyMinions,
				now.Up, f.Troubles())
		}
		return nil
	})
	if err == nil {
		err = t.withMany(ctx)
	}
	stop()
	return errors.Join(err, f.Wait())
}

// withMany measures the rows. The size of the master is its memory at rest after the work. The peak comes from
// the kernel and covers all sign-ins and jobs.
func (t *turn) withMany(ctx context.Context) error {
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	if t.rec.wantsAny([]string{rowMany, rowManyMissing, rowManyMaster, rowManyMasterP, rowManyPeak}) {
		if err := t.manyTimes(ctx, rowMany, "*", "test.ping"); err != nil {
			return err
		}
		if err := pause(ctx, 10*time.Second); err != nil {
			return err
		}
		rss, pss := t.master.memory()
		t.add(rowManyMaster, rss)
		t.add(rowManyMasterP, pss)
	}
	if t.rec.wantsAny([]string{rowManyStatic, rowManyMissing, rowManyPeak}) {
		if err := t.manyTimes(ctx, rowManyStatic, "--static", "*", "test.ping"); err != nil {
			return err
		}
	}
	t.add(rowManyPeak, t.master.peak())
	return nil
}

// manyTimes measures one command line repeatedly.
func (t *turn) manyTimes(ctx context.Context, row string, args ...string) error {
	defer t.profile(t.master, row)()
	defer t.account(row)()
	for range t.times(20, 1) {
		took, out, err := runTool(ctx, t.env(), t.c.tool("salt"), append([]string{"-c", t.masterDir()}, args...)...)
		answered := strings.Count(out, "    True\n")
		if answered == 0 {
			return fmt.Errorf("%s: no answer: %w", row, err)
		}
		t.addTime(row, took)
		t.add(rowManyMissing, float64(manyMinions-answered))
	}
	return nil
}
