package master

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"brine/actors/master/workers"
	"brine/supervisor/stats"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// soon is when a request must have been answered or dropped, whatever its bytes. It takes milliseconds; what is above a
// second is left to machines that stutter.
const soon = 10 * time.Second

// stopwatch counts how many of the requests took longer than soon.
type stopwatch struct{ all, late int }

func (w *stopwatch) note(began time.Time) {
	w.all++
	if time.Since(began) > soon {
		w.late++
	}
}

// check fails when more than a machine that stutters explains was late: nothing waits for a second by design.
func (w *stopwatch) check(t *testing.T) {
	t.Helper()
	if w.late > 1+w.all/10 {
		t.Errorf("%d of %d requests were answered after %v", w.late, w.all, soon)
	}
}

// alive checks that no actor has died, and that somebody counts what was bad.
func (r *rig) alive(failures uint64) {
	r.t.Helper()
	var failed uint64
	r.tree(func(c stats.Child) {
		failed += c.Failed
		if c.Restarts > 0 || c.LastDeath != nil {
			r.t.Errorf("%s died: %+v", c.Path, c.LastDeath)
		}
	})
	if failed < failures {
		r.t.Errorf("%d bad messages counted, want at least %d", failed, failures)
	}
}

// TestHostileFrames: bytes that are meant to hurt.
func TestHostileFrames(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ping := packed(t, payload.M("enc", "clear", "load", cmd("ping"), "version", 3))
	session := r.sessionOf("m1")
	inBox := func(plain []byte) []byte {
		env := payload.M("enc", "aes", "load", sealedBytes(t, session, plain), "version", 3, "id", "m1")
		return packed(t, env)
	}
	inLoad := func(b []byte) []byte { // {enc: clear, load: b, version: 3}
		return append(append([]byte("\x83\xa3enc\xa5clear\xa4load"), b...), []byte("\xa7version\x03")...)
	}
	nasty := map[string][]byte{
		"array of 1 G":      {0xdd, 0x40, 0, 0, 0},
		"map of 1 G":        {0xdf, 0x40, 0, 0, 0},
		"text of 1 G":       {0xdb, 0x40, 0, 0, 0, 'a'},
		"bytes of 4 G":      {0xc6, 0xff, 0xff, 0xff, 0xff, 'a'},
		"ext of 1 G":        {0xc9, 0x40, 0, 0, 0, 5, 'a'},
		"array of 64 K":     {0xdc, 0xff, 0xff},
		"deep arrays":       bytes.Repeat([]byte{0x91}, 100_000),
		"deep maps":         bytes.Repeat([]byte{0x81, 0xa1, 'a'}, 100_000),
		"deep and complete": append(bytes.Repeat([]byte{0x91}, 2000), 0xc0),
		"map as key":        {0x81, 0x80, 1},
		"list as key":       {0x81, 0x91, 1, 1},
		"bad UTF-8 as key":  {0x81, 0xa2, 0xff, 0xfe, 1},
		"nil as key":        {0x81, 0xc0, 1},
		"NaN as key":        {0x81, 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0, 1},
		"never used byte":   {0xc1},
		"ext of time":       {0xc7, 3, 78, 'a', 'b', 'c'},
		"nothing":           {},
	}
	for i := range ping {
		nasty[fmt.Sprintf("cut at %d", i)] = ping[:i]
	}
	n := uint64(0)
	watch := &stopwatch{}
	defer watch.check(t)
	for name, b := range nasty {
		for form, frame := range map[string][]byte{"frame": b, "load": inLoad(b), "sealed": inBox(b)} {
			start := time.Now()
			reply := r.send(frame)
			watch.note(start)
			if form == "frame" && string(reply) == string(packed(t, payload.TextHandlerFailed)) {
				t.Errorf("%s: a handler failed", name)
			}
			n++
		}
	}
	equal(t, "ping", decoded(t, r.send(ping)), cmd("ping"))
	equal(t, "request of a minion", m.ask(cmd("_file_envs")), []any{"base"})
	r.alive(n / 2)
}

func sealedBytes(t testing.TB, key string, plain []byte) []byte {
	t.Helper()
	return mustBox(t, key).Seal(plain, "")
}

// TestHostileFields: well formed requests with values that no handler expects.
func TestHostileFields(t *testing.T) {
	r := newRig(t, "file_recv: true", "peer: {'.*': ['.*']}", "peer_run: {'.*': ['test.*']}",
		"external_auth: {auto: {'*': ['.*', '@runner', '@wheel']}}",
		"request_timeout: 1")
	m := r.minion("m1")
	odd := []any{nil, true, -1, int64(1 << 40), 1.5, "", "../../x", "a\x00b", []byte{0xff, 0xfe}, []any{},
		[]any{[]any{nil}}, payload.NewMap(0), payload.M("a", payload.M("b", nil)), payload.M(1, 2),
		strings.Repeat("x", 100_000), payload.Time{Time: time.Unix(0, 0)}, payload.Ext{Type: 5, Data: []byte("x")}}
	fields := []string{"id", "fun", "arg", "tgt", "tgt_type", "jid", "ret", "return", "retcode", "load", "data",
		"events", "tag", "pretag", "path", "loc", "grains", "pillarenv", "clear", "opts", "resources", "resource_id",
		"kwargs", "kwarg", "user", "key", "token", "eauth", "username", "password", "timeout", "tmo", "form", "sig"}
	whole := payload.M("id", "m1", "fun", "test.ping", "arg", []any{}, "tgt", "m1", "tgt_type", "glob", "jid", someJID,
		"ret", "", "return", true, "data", payload.M("a", 1), "tag", "t", "path", []any{"f"}, "loc", 0, "grains",
		payload.NewMap(0), "user", "root", "timeout", 1)
	random := rand.New(rand.NewPCG(1, 2))
	try := func(command string, clear bool) {
		load := payload.M("cmd", command)
		load.Update(whole)
		for range 1 + random.IntN(3) {
			load.Set(fields[random.IntN(len(fields))], odd[random.IntN(len(odd))])
		}
		if clear {
			load.Set("eauth", "auto").Set("username", "u").Set("kwargs", payload.M("eauth", "auto", "username", "u",
				"password", "p"))
			r.clear(load)
			return
		}
		load.Set("id", "m1")
		load.Set("tmo", 1)
		load.Delete("timeout")
		_, _ = m.try(load) // refused or answered: both are well
	}
	for _, command := range workers.CommandNames(false) {
		if command == payload.CmdRevokeAuth || command == payload.CmdMinionPublish {
			// the one ends the minion, the other waits
			continue
		}
		for range 60 {
			try(command, false)
		}
	}
	for _, command := range workers.CommandNames(true) {
		if command == payload.CmdWheel { // it changes keys and configuration
			continue
		}
		for range 60 {
			try(command, true)
		}
	}
	equal(t, "request of a minion", m.ask(cmd("_file_envs")), []any{"base"})
	r.alive(0)
}

// TestReplay: a request that comes again is answered again, with the same box and to nobody's harm: the store keeps
// the first return.
func TestReplay(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	frame, nonce, err := m.Seal(ret("m1", someJID))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if v, err := m.Open(r.send(frame), nonce); err != nil || v != nil {
			t.Errorf("got %v, %v", v, err)
		}
	}
	equal(t, "stored", r.stored(someJID).Len(), 1)
	if _, err := r.keyStore().Remove("minions", "m1"); err != nil {
		t.Fatal(err)
	}
	equal(t, "after the key was deleted", decoded(t, r.send(frame)), "bad load")
}

// TestHalfOpen: connections that say nothing, or half a greeting, or no greeting at all, hold up nobody.
func TestHalfOpen(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	for i := range 100 {
		port := r.cfg.RetPort
		if i%4 == 3 {
			port = r.cfg.PublishPort
		}
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		said := [][]byte{nil, {0xff, 0, 0}, []byte("GET / HTTP/1.1\r\n\r\n"),
			append([]byte{0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3}, make([]byte, 20)...),
			bytes.Repeat([]byte{0xff}, 1000)}[i%5]
		_, _ = c.Write(said) // a master that has hung up already is fine
	}
	watch := &stopwatch{}
	for range 5 {
		start := time.Now()
		equal(t, "request", m.ask(cmd("_file_envs")), []any{"base"})
		if step := r.newMinion("m1").signIn(); step.Verdict.String() != "accepted" {
			t.Errorf("sign-in: %+v", step)
		}
		watch.note(start)
	}
	watch.check(t)
	r.alive(0)
}

// TestFlood: while others send garbage as fast as they can, everybody is answered.
func TestFlood(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	random := rand.New(rand.NewPCG(3, 4))
	garbage := make([][]byte, 200)
	for i := range garbage {
		garbage[i] = make([]byte, random.IntN(2000))
		for k := range garbage[i] {
			garbage[i][k] = byte(random.Uint32())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	sent := make(chan int, 4)
	for i := range cap(sent) {
		go func() {
			q := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.cfg.RetPort, "", 0),
				Context: r.zctx})
			defer q.Close()
			n := 0
			for ; ctx.Err() == nil; n++ {
				if _, err := q.Do(ctx, garbage[(n+i*50)%len(garbage)]); err != nil &&
					!errors.Is(err, context.Canceled) {
					t.Errorf("garbage was not answered: %v", err)
					break
				}
			}
			sent <- n
		}()
	}
	watch := &stopwatch{}
	for range 200 {
		start := time.Now()
		equal(t, "request", m.ask(cmd("_file_envs")), []any{"base"})
		watch.note(start)
	}
	cancel()
	watch.check(t)
	total := 0
	for range cap(sent) {
		total += <-sent
	}
	r.alive(uint64(total) / 2)
}
