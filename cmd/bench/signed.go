package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/wire/crypt"
)

// signed measures the master's processor time for one signed publication, with few keys and with many.
func (t *turn) signed(ctx context.Context) error {
	few, err := t.publishCost(ctx, rowPublish10, 10)
	if err != nil {
		return err
	}
	many, err := t.publishCost(ctx, rowPublish10k, 10_000)
	if err != nil {
		return err
	}
	t.add(rowPublishCPU, many/few)
	return nil
}

// publishCost lets a master with the given number of accepted keys publish jobs to one emulated minion, one
// after another.
func (t *turn) publishCost(ctx context.Context, row string, keys int) (cost float64, err error) {
	sub := &turn{bench: t.bench, c: t.c, dir: filepath.Join(t.dir, fmt.Sprint(keys))}
	defer func() { err = errors.Join(err, sub.close()) }()
	if err := sub.configureMaster(); err != nil {
		return 0, err
	}
	if err := sub.plantKeys(keys - 1); err != nil {
		return 0, err
	}
	if _, err := sub.startMaster(ctx); err != nil {
		return 0, err
	}
	cr, err := sub.gather(ctx, 1)
	if err != nil {
		return 0, err
	}
	cost, err = cr.costOf(ctx)
	if err = errors.Join(err, cr.disperse()); err != nil {
		return 0, err
	}
	t.add(row, cost)
	return cost, nil
}

// plantKeys adds accepted keys of minions that do not exist to the master's directory.
func (t *turn) plantKeys(n int) error {
	dir := filepath.Join(t.conf.PKIDir, "minions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("plant keys: %w", err)
	}
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		return err
	}
	pem := []byte(key.Public().PEM())
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("absent%05d", i)), pem, 0o644); err != nil {
			return fmt.Errorf("plant keys: %w", err)
		}
	}
	return nil
}

// costOf publishes jobs and returns the master's processor time for each, in ms.
func (cr *crowd) costOf(ctx context.Context) (float64, error) {
	if err := cr.await(ctx); err != nil {
		return 0, err
	}
	one := func() error {
		_, missing, err := cr.heard.jobTo(ctx, cr.c, "emu0000", 1, 30*time.Second)
		if err == nil && missing > 0 {
			err = errLate
		}
		return err
	}
	for range 5 { // fills caches
		if err := one(); err != nil {
			return 0, err
		}
	}
	if err := pause(ctx, time.Second); err != nil {
		return 0, err
	}
	n := cr.times(1000, 40)
	defer cr.profile(cr.master, "publish")()
	before := cr.master.cpu()
	for range n {
		if err := one(); err != nil {
			return 0, err
		}
	}
	return ms(cr.master.cpu()-before) / float64(n), nil
}
