package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// newClient connects to the master as its tools do. All clients end with the turn.
func (t *turn) newClient() (*client.Client, error) {
	if t.zctx == nil {
		var err error
		if t.zctx, err = zmq.NewContext(1); err != nil {
			return nil, err
		}
	}
	c := client.New(client.Options{
		Dial: zmq.Dialer(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", t.ret, "", 0),
			Context: t.zctx}), SockDir: t.conf.SockDir, CacheDir: t.conf.CacheDir,
		User: client.LoginName(t.conf.User, ""), KeyOwner: t.conf.User, Timeout: time.Minute, Tries: 1,
	})
	t.clients = append(t.clients, c)
	return c, nil
}

// ask sends one request that every master answers at once.
func (t *turn) ask(ctx context.Context) error {
	zctx, err := zmq.NewContext(1)
	if err != nil {
		return err
	}
	req := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", t.ret, "", 0), Context: zctx})
	frame, err := (&payload.Request{Enc: payload.EncClear, Load: payload.M("cmd", "ping"), Version: 3}).Encode()
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err = req.Do(ctx, frame)
	}
	return errors.Join(err, req.Close(), zctx.Close())
}

// listener counts the returns of all jobs as they appear on the master's event bus.
type listener struct {
	events client.Events
	done   chan struct{}

	mu   sync.Mutex
	jobs map[string]*jobReturns
	err  error // the bus ended
}

// jobReturns is what has come in for one job.
type jobReturns struct {
	ids  map[string]bool
	last time.Time     // arrival of the newest
	want int           // 0 until somebody waits
	full chan struct{} // closed when want is reached
}

// listen joins the bus; what is counted begins here.
func listen(ctx context.Context, c *client.Client) (*listener, error) {
	var events client.Events
	var err error
	for range 100 { // a real master opens its bus a little after its request port
		if events, err = c.Events(ctx); err == nil {
			break
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, fmt.Errorf("join the event bus: %w", err)
	}
	l := &listener{events: events, done: make(chan struct{}), jobs: map[string]*jobReturns{}}
	go l.read(context.WithoutCancel(ctx))
	return l, nil
}

func (l *listener) close() {
	_ = l.events.Close() // that the other end has gone is no matter
	<-l.done
}

func (l *listener) read(ctx context.Context) {
	defer close(l.done)
	for {
		body, err := l.events.Next(ctx)
		if err != nil {
			l.mu.Lock()
			l.err = err
			l.mu.Unlock()
			return
		}
		jid, id, ok := returnTag(event.Tag(body))
		if ok {
			l.count(jid, id, time.Now())
		}
	}
}

// returnTag reads salt/job/JID/ret/ID.
func returnTag(tag string) (jid, id string, ok bool) {
	rest, ok := strings.CutPrefix(tag, "salt/job/")
	if !ok {
		return "", "", false
	}
	jid, rest, _ = strings.Cut(rest, "/")
	id, ok = strings.CutPrefix(rest, "ret/")
	return jid, id, ok
}

// job returns a job's entry; l.mu is held.
func (l *listener) job(jid string) *jobReturns {
	j := l.jobs[jid]
	if j == nil {
		j = &jobReturns{ids: map[string]bool{}, full: make(chan struct{})}
		l.jobs[jid] = j
	}
	return j
}

func (l *listener) count(jid, id string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.job(jid)
	j.ids[id], j.last = true, now
	if j.want > 0 && len(j.ids) == j.want {
		close(j.full)
	}
}

// wait waits until want minions have returned a job, at most limit. It tells how many did not, and when the last
// return came.
func (l *listener) wait(ctx context.Context, jid string, want int, limit time.Duration) (missing int, last time.Time,
	err error) {
	l.mu.Lock()
	j := l.job(jid)
	if j.want = want; len(j.ids) >= want {
		close(j.full)
	}
	l.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-j.full:
	case <-timer.C:
	case <-l.done:
	case <-ctx.Done():
		return 0, last, context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.jobs, jid)
	return want - len(j.ids), j.last, l.err
}

// errLate means that a job was not answered in time.
var errLate = errors.New("no return in time")

// job publishes a test.ping and waits for the last of want returns; took counts from before the publishing.
func (l *listener) jobTo(ctx context.Context, c *client.Client, tgt string, want int, limit time.Duration) (
	took time.Duration, missing int, err error) {
	start := time.Now()
	pub, err := c.Publish(ctx, client.Job{Tgt: tgt, Fun: "test.ping"})
	if err != nil {
		return 0, 0, err
	}
	if len(pub.Minions) != want {
		return 0, 0, fmt.Errorf("%q means %d minions to the master, not %d", tgt, len(pub.Minions), want)
	}
	missing, last, err := l.wait(ctx, pub.JID, want, limit)
	if err != nil {
		return 0, 0, err
	}
	return last.Sub(start), missing, nil
}
