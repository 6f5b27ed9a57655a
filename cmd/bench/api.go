package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"brine/wire/loopback"
)

// apiMore extends the master's file for the rows of salt-api: every user may do everything.
const apiMore = `netapi_enable_clients: [local, runner]
external_auth: {auto: {bench: ['.*', '@runner']}}
rest_cherrypy: {port: %d, host: 127.0.0.1, disable_ssl: true, webhook_disable_auth: true}
api_pidfile: %s/api.pid
api_logfile: %s/api
`

// These are calls of salt-api: one lowstate each, with credentials, as from a client without a session.
const (
	apiPing = `[{"client": "local", "tgt": "m1", "fun": "test.ping", "username": "bench", "password": "x", "eauth": "auto"}]`
	apiUp   = `[{"client": "runner", "fun": "manage.up", "username": "bench", "password": "x", "eauth": "auto"}]`
	apiArg  = `[{"client": "runner", "fun": "test.arg", "arg": ["here"], "username": "bench", "password": "x", "eauth": "auto"}]`
)

// thirtyTwo is the number of clients that call concurrently.
const thirtyTwo = 32

// apiServer is a salt-api beside the master of a turn.
type apiServer struct {
	*process
	base   string
	client *http.Client
}

// api measures salt-api, with rest_cherrypy, beside a master with three minions.
func (t *turn) api(ctx context.Context) (err error) {
	if !t.c.ours && t.c.short != "8" {
		return errors.New("salt-api is measured against that of Salt 3008")
	}
	port, err := t.apiMaster(ctx)
	if err != nil {
		return err
	}
	for _, id := range trio {
		if err := t.startMinion(id); err != nil {
			return err
		}
	}
	if err := t.await(ctx, 2*time.Minute, time.Second, func() error {
		return t.tell(ctx, "test.ping", "", len(trio))
	}); err != nil {
		return fmt.Errorf("first answer of three minions: %w", err)
	}
	a, err := t.startAPI(ctx, port, apiPing, "true")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.kill()) }()
	return errors.Join(t.apiRest(ctx, a), t.apiCalls(ctx, a, apiPing, "true", rowAPIPing, rowAPIRate1, rowAPIRate),
		t.apiCalls(ctx, a, apiUp, "m3", rowAPIUp, "", rowAPIUpRate), t.apiWorked(a), t.streams(ctx, a))
}

// apiMaster starts a master with a configuration for salt-api, too. It returns the port of salt-api.
func (t *turn) apiMaster(ctx context.Context) (int, error) {
	if err := t.configureMaster(); err != nil {
		return 0, err
	}
	port, err := loopback.Reserve()
	if err != nil {
		return 0, err
	}
	t.ports = append(t.ports, port)
	if err := appendTo(filepath.Join(t.masterDir(), "master"), fmt.Sprintf(apiMore, port.Number, t.dir,
		t.dir)); err != nil {
		return 0, err
	}
	_, err = t.startMaster(ctx)
	return port.Number, err
}

// startAPI starts salt-api and waits for its first answer to a call.
func (t *turn) startAPI(ctx context.Context, port int, call, want string) (*apiServer, error) {
	p, err := startProcess(t.c.name+" salt-api", filepath.Join(t.dir, "api.log"), t.env(), t.c.tool("salt-api"), "-c",
		t.masterDir(), "-l", "warning")
	if err != nil {
		return nil, err
	}
	a := &apiServer{process: p, base: fmt.Sprintf("http://127.0.0.1:%d", port),
		client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: thirtyTwo,
			DisableCompression: true}}}
	err = t.await(ctx, time.Minute, 50*time.Millisecond, func() error {
		return errors.Join(a.err(), a.call(ctx, call, want))
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("first answer of salt-api: %w", err), a.kill())
	}
	return a, nil
}

// call sends a lowstate to /run and checks that the answer contains want.
func (a *apiServer) call(ctx context.Context, low, want string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/run", strings.NewReader(low))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !strings.Contains(string(raw), want)) {
		err = fmt.Errorf("salt-api answers %s: %.200q", res.Status, raw)
	}
	return err
}

// apiRest reads the memory of an idle salt-api that has answered once.
func (t *turn) apiRest(ctx context.Context, a *apiServer) error {
	if !t.rec.wantsAny([]string{rowAPIIdle, rowAPIIdleP}) {
		return nil
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	rss, pss := a.memory()
	t.add(rowAPIIdle, rss)
	t.add(rowAPIIdleP, pss)
	return nil
}

// apiWorked reads the memory after all calls.
func (t *turn) apiWorked(a *apiServer) error {
	rss, _ := a.memory()
	t.add(rowAPIWorked, rss)
	return nil
}

// apiCalls measures calls one after another, and the rate of 32 concurrent clients.
func (t *turn) apiCalls(ctx context.Context, a *apiServer, low, want, one, rate1, rate string) error {
	if t.rec.wants(one) || rate1 != "" && t.rec.wants(rate1) {
		n := t.times(400, 20)
		start := time.Now()
		for range n {
			before := time.Now()
			if err := a.call(ctx, low, want); err != nil {
				return err
			}
			t.addTime(one, time.Since(before))
		}
		if rate1 != "" {
			t.add(rate1, float64(n)/time.Since(start).Seconds())
		}
	}
	if !t.rec.wants(rate) {
		return nil
	}
	defer t.profile(a.process, rate)()
	return t.apiRate(ctx, a, low, want, rate)
}

func (t *turn) apiRate(ctx context.Context, a *apiServer, low, want, row string) error {
	warm, span := time.Second, 6*time.Second
	if t.opt.Quick {
		span = 3 * time.Second
	}
	if !t.c.ours {
		warm, span = 3*time.Second, 3*span
	}
	work := make([]func(context.Context) error, thirtyTwo)
	for k := range work {
		work[k] = func(ctx context.Context) error { return a.call(ctx, low, want) }
	}
	return t.rateOf(ctx, row, warm, span, work)
}
