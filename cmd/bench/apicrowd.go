package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/cmd/fleet"
	"brine/wire/crypt"
)

// This is the load of salt-api and its master: so many minions answer each job, and so many clients read all
// events.
const (
	apiCrowdMinions      = 1000
	apiCrowdReaders      = 2000
	apiCrowdReadersQuick = 200
)

// apiCrowd measures jobs for a thousand emulated minions that salt-api publishes while two thousand clients
// read every event. Minions and readers run in this process, and share the machine with the measured daemons.
func (t *turn) apiCrowd(ctx context.Context) (err error) {
	if !t.c.ours {
		return errOnlyOurs
	}
	port, err := t.apiMaster(ctx)
	if err != nil {
		return err
	}
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f, err := fleet.Start(ctx, fleet.Options{Minions: apiCrowdMinions, Prefix: "emu", Host: "127.0.0.1", RetPort: t.ret,
		PublishPort: t.pub, Key: key, Version: t.opt.Version})
	if err != nil {
		return err
	}
	defer func() {
		stop()
		err = errors.Join(err, f.Wait())
	}()
	err = t.await(ctx, 3*time.Minute, 50*time.Millisecond, func() error {
		if now := f.Counts(); now.Up < apiCrowdMinions {
			return fmt.Errorf("%d emulated minions signed in, %d connected: %v", now.SignedIn, now.Up, f.Troubles())
		}
		return nil
	})
	if err != nil {
		return err
	}
	a, err := t.startAPI(ctx, port, apiArg, "here")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.kill()) }()
	return t.withCrowd(ctx, a)
}

// withCrowd opens the streams, runs jobs one after another, and waits until all readers have all events.
func (t *turn) withCrowd(ctx context.Context, a *apiServer) error {
	n, span := apiCrowdReaders, 15*time.Second
	if t.opt.Quick {
		n, span = apiCrowdReadersQuick, 5*time.Second
	}
	token, err := a.logIn(ctx)
	if err != nil {
		return err
	}
	readers := make([]*streamReader, n)
	var got atomic.Int64
	var wg sync.WaitGroup
	defer func() {
		for _, r := range readers {
			r.close()
		}
		wg.Wait()
	}()
	for i := range readers {
		if readers[i], err = openStream(ctx, a.base, token); err != nil {
			return fmt.Errorf("event stream %d: %w", i+1, err)
		}
		wg.Go(func() { readers[i].countReturns(&got) })
	}
	start := time.Now()
	jobs := 0
	for ; time.Since(start) < span; jobs++ {
		if err := a.jobForAll(ctx, token); err != nil {
			return err
		}
	}
	t.add(rowAPICrowd, float64(jobs)/time.Since(start).Seconds())
	all := int64(jobs) * apiCrowdMinions * int64(n)
	_ = t.await(ctx, time.Minute, 20*time.Millisecond, func() error { // missing events show in the result
		if got.Load() < all {
			return errBehind
		}
		return nil
	})
	t.add(rowAPICrowdEvents, float64(got.Load())/time.Since(start).Seconds())
	t.add(rowAPICrowdLost, float64(all-got.Load()))
	for _, p := range []struct {
		*process
		peak, pss string
	}{{a.process, rowAPICrowdPeak, rowAPICrowdPSS}, {t.master, rowAPICrowdMaster, rowAPICrowdMasterP}} {
		_, pss := p.memory()
		t.add(p.peak, p.process.peak())
		t.add(p.pss, pss)
	}
	return nil
}

// jobForAll asks all minions for test.ping.
func (a *apiServer) jobForAll(ctx context.Context, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/",
		strings.NewReader(`[{"client": "local", "tgt": "*", "fun": "test.ping", "timeout": 60}]`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Auth-Token", token)
	res, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if n := bytes.Count(raw, []byte(": true")); err == nil && n != apiCrowdMinions {
		err = fmt.Errorf("%d of %d minions have answered: %s, %.200q", n, apiCrowdMinions, res.Status, raw)
	}
	return err
}

// countReturns adds the number of returns to sum until the connection ends.
func (r *streamReader) countReturns(sum *atomic.Int64) {
	word := []byte(`"cmd": "_return"`)
	room := make([]byte, 32<<10)
	for kept := 0; ; {
		n, err := r.in.Read(room[kept:])
		if n > 0 {
			have := room[:kept+n]
			sum.Add(int64(bytes.Count(have, word)))
			kept = copy(room, have[max(0, len(have)-len(word)+1):])
		}
		if err != nil {
			return
		}
	}
}
