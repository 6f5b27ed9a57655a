package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/cmd/fleet"
	"brine/wire/client"
	"brine/wire/crypt"
)

// crowd is the emulated fleet of a turn, with a listener on the event bus.
type crowd struct {
	*turn
	f     *fleet.Fleet
	n     int
	stop  context.CancelFunc
	c     *client.Client
	heard *listener
}

// limitAll bounds the wait for the returns of a whole fleet.
const limitAll = 60 * time.Second

// fleet measures a master with many emulated minions.
func (t *turn) fleet(ctx context.Context) error {
	if err := t.configureMaster(); err != nil {
		return err
	}
	if _, err := t.startMaster(ctx); err != nil {
		return err
	}
	cr, err := t.gather(ctx, t.opt.Minions)
	if err != nil {
		return err
	}
	err = errors.Join(cr.await(ctx), cr.measure(ctx))
	return errors.Join(err, cr.disperse())
}

// gather starts n emulated minions.
func (t *turn) gather(ctx context.Context, n int) (*crowd, error) {
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		return nil, err
	}
	c, err := t.newClient()
	if err != nil {
		return nil, err
	}
	cr := &crowd{turn: t, n: n, c: c}
	if cr.heard, err = listen(ctx, c); err != nil {
		return nil, err
	}
	ctx, cr.stop = context.WithCancel(ctx)
	cr.f, err = fleet.Start(ctx, fleet.Options{Minions: n, Prefix: "emu", Host: "127.0.0.1", RetPort: t.ret,
		PublishPort: t.pub, Key: key, Version: t.opt.Version, Requests: burstAtOnce})
	if err != nil {
		cr.stop()
		cr.heard.close()
		return nil, err
	}
	return cr, nil
}

// disperse ends the minions.
func (cr *crowd) disperse() error {
	cr.stop()
	cr.heard.close()
	return cr.f.Wait()
}

// await waits until all minions are connected to the publish port.
func (cr *crowd) await(ctx context.Context) error {
	return cr.turn.await(ctx, 3*time.Minute, 5*time.Millisecond, func() error {
		if now := cr.f.Counts(); now.SignedIn < int64(cr.n) || now.Up < int64(cr.n) {
			return fmt.Errorf("%d of %d emulated minions signed in, %d connected, %d failures", now.SignedIn, cr.n,
				now.Up, now.Failures)
		}
		return nil
	})
}

// measure measures the rows of a fleet. Rows that need an idle master come first.
func (cr *crowd) measure(ctx context.Context) error {
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	rss, pss := cr.master.memory()
	cr.add(rowFullMaster, rss)
	cr.add(rowFullMasterP, pss)
	for _, part := range []struct {
		row string
		run func(context.Context) error
	}{{rowFleet, cr.pings}, {rowReturns, cr.returns}, {rowSignIns, cr.signIns}, {rowWorked, cr.worked},
		{rowRestart, cr.restart}} {
		if !cr.rec.wants(part.row) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.row, err)
		}
	}
	return nil
}

// pings measures repeatedly the time to the last return of a job for all minions.
func (cr *crowd) pings(ctx context.Context) error {
	defer cr.profile(cr.master, "fleet")()
	defer cr.account(rowFleet)()
	for range cr.times(100, 4) {
		took, missing, err := cr.heard.jobTo(ctx, cr.c, "*", cr.n, limitAll)
		if err != nil {
			return err
		}
		cr.add(rowMissing, float64(missing))
		cr.addTime(rowFleet, took)
	}
	return nil
}

// burstAtOnce is the number of requests of a burst in progress.
const burstAtOnce = 256

// returns measures how fast the master accepts returns of known jobs, each for the first time.
func (cr *crowd) returns(ctx context.Context) error {
	cr.f.Hold(true)
	defer cr.f.Hold(false)
	var jids []string
	for range cr.times(20, 2) {
		pub, err := cr.c.Publish(ctx, client.Job{Tgt: "*", Fun: "test.ping"})
		if err != nil {
			return err
		}
		jids = append(jids, pub.JID)
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	defer cr.profile(cr.master, "returns")()
	return cr.burst(rowReturns, func() (fleet.Burst, error) { return cr.f.Returns(ctx, jids, burstAtOnce) })
}

// signIns measures how fast the master answers minions with accepted keys.
func (cr *crowd) signIns(ctx context.Context) error {
	times := cr.times(5, 2)
	defer cr.profile(cr.master, "sign-ins")()
	return cr.burst(rowSignIns, func() (fleet.Burst, error) { return cr.f.SignIns(ctx, times, burstAtOnce) })
}

func (cr *crowd) burst(row string, run func() (fleet.Burst, error)) error {
	end := cr.account(row)
	b, err := run()
	end()
	if err != nil {
		return err
	}
	if b.Refused > 0 || b.Err != nil {
		return fmt.Errorf("%d answered, %d of them refused: %w", b.Sent, b.Refused, b.Err)
	}
	cr.add(row, b.Rate())
	return nil
}

// worked reads the memory of the master after its work.
func (cr *crowd) worked(context.Context) error {
	rss, _ := cr.master.memory()
	cr.add(rowWorked, rss)
	return nil
}

// restart measures the first job of a restarted master, for which every minion needs a new session key.
func (cr *crowd) restart(ctx context.Context) error {
	for range cr.times(4, 1) {
		cr.heard.close()
		if _, err := cr.master.stop(); err != nil {
			return err
		}
		_, err := cr.startMaster(ctx)
		if err != nil {
			return err
		}
		if cr.c, err = cr.newClient(); err != nil { // a real master changes its tools' key at each start
			return err
		}
		if cr.heard, err = listen(ctx, cr.c); err != nil {
			return err
		}
		// Request sockets may pause for five seconds between attempts to reach a dead master.
		if err := errors.Join(cr.await(ctx), pause(ctx, 6*time.Second)); err != nil {
			return err
		}
		end, endProfile := cr.account(rowRestart), cr.profile(cr.master, "restart")
		took, missing, err := cr.heard.jobTo(ctx, cr.c, "*", cr.n, limitAll)
		end()
		endProfile()
		if err != nil {
			return err
		}
		if missing > 0 {
			return fmt.Errorf("%d of %d returns missing after %v", missing, cr.n, limitAll)
		}
		cr.addTime(rowRestart, took)
	}
	return nil
}
