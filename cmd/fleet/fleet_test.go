package fleet

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/wire/auth"
	"brine/wire/client"
	"brine/wire/payload"
)

// TestFleet: a small fleet of either protocol answers a job, and sends its bursts to a master.
func TestFleet(t *testing.T) {
	const size = 8
	for _, version := range []int{0, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			r := newRig(t, autoAccept)
			f := r.gather(Options{Minions: size, Version: version, PerSub: 3})
			eventually(t, "fleet up", func() bool { return f.Counts().Up == size })
			for _, m := range f.minions {
				if got := m.auth.Version(); got != 3 && version == 0 || got != 2 && version == 2 {
					t.Errorf("%s speaks version %d, option %d", m.id, got, version)
				}
			}
			c := r.client()
			answerJob(t, f, c, size)
			fireBursts(t, f, c, size)
			if n := f.Counts().Failures; n > 0 {
				t.Errorf("%d failures", n)
			}
		})
	}
}

// TestSharesSockets: a fleet needs less than one descriptor for each minion.
func TestSharesSockets(t *testing.T) {
	const size = 200
	r := newRig(t, autoAccept)
	before := openFiles(t)
	f := r.gather(Options{Minions: size, Requests: 8})
	eventually(t, "fleet up", func() bool { return f.Counts().Up == size })
	answerJob(t, f, r.client(), size)
	subs := (size + f.opt.PerSub - 1) / f.opt.PerSub
	// The master is in this process, too, and has the other end of each connection.
	if got := openFiles(t) - before; got > (filesPerSocket+1)*(subs+f.opt.Requests) {
		t.Errorf("%d descriptors for %d minions", got, size)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(files)
}

// TestOpensOnce: one minion opens a publication for all minions with the same key, and for no others.
func TestOpensOnce(t *testing.T) {
	r := newRig(t, autoAccept)
	f := r.gather(Options{Minions: 10, PerSub: 5})
	eventually(t, "fleet up", func() bool { return f.Counts().Up == 10 })
	answerJob(t, f, r.client(), 10)
	f.pubs.mu.Lock()
	p := f.pubs.last[0] // no publication arrives meanwhile
	f.pubs.mu.Unlock()
	if f.pubs.find(bytes.Clone(p.frame)) != p {
		t.Error("the same frame is another publication")
	}
	if err := p.openFor(f.minions[9].auth); err != nil {
		t.Errorf("not opened for a minion of the other group: %v", err)
	}
	stranger, err := auth.NewMinion(auth.MinionOptions{ID: "stranger", Key: testKey(), Trust: &memory{}})
	if err != nil {
		t.Fatal(err)
	}
	if p.openFor(stranger) == nil {
		t.Error("opened for a minion without a key")
	}
}

// TestMasterRestarts gives the master another key. Every minion signs in again and answers the job that it
// could not open before.
func TestMasterRestarts(t *testing.T) {
	const size = 40
	r := newRig(t, autoAccept)
	f := r.gather(Options{Minions: size, PerSub: 7, Requests: 4})
	eventually(t, "fleet up", func() bool { return f.Counts().Up == size })
	r.stop()
	eventually(t, "connections down", func() bool { return f.Counts().Up == 0 })
	r.start()
	eventually(t, "connections up", func() bool { return f.Counts().Up == size })
	before := f.Counts()
	if _, err := r.client().Publish(t.Context(), client.Job{Tgt: "*", Fun: "test.ping"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answers", func() bool { return f.Counts().Returns == before.Returns+size })
	for _, m := range f.minions {
		if n := m.signIns.Load(); n != 2 {
			t.Errorf("%s has signed in %d times", m.id, n)
		}
	}
}

// TestTroubles: a fleet reports what keeps minions from signing in, and pauses between attempts.
func TestTroubles(t *testing.T) {
	const size = 20
	r := newRig(t, "")
	f := r.gather(Options{Minions: size, Requests: 4})
	eventually(t, "all are refused", func() bool {
		wrong := f.Troubles()
		return len(wrong) == 1 && wrong[0].Minions == size && strings.Contains(wrong[0].What, "operator to accept")
	})
	if c := f.Counts(); c.SignedIn != 0 || c.Failures != 0 {
		t.Errorf("%+v", c)
	}
}

// TestOpenFiles: a fleet that is too big for the limit is refused, with a helpful text.
func TestOpenFiles(t *testing.T) {
	opt := Options{Minions: 10_000, PerSub: 50, Requests: 64}
	need := filesOf(opt)
	if need > 3000 {
		t.Errorf("%d descriptors for 10,000 minions", need)
	}
	for _, tt := range []struct {
		soft, hard uint64
		set        uint64 // 0: unchanged
		ok         bool
	}{{1024, need - 1, 0, false}, {1024, need, need, true}, {need, 2 * need, 0, true}, {1024, 1 << 20, 1 << 20, true}} {
		got, err := raised(opt, tt.soft, tt.hard)
		if got != tt.set || (err == nil) != tt.ok {
			t.Errorf("soft %d, hard %d: %d, %v", tt.soft, tt.hard, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("ulimit -n %d", need)) {
			t.Errorf("no help: %v", err)
		}
	}
}

// TestWhom: whom evaluates targets.
func TestWhom(t *testing.T) {
	for _, tt := range []struct {
		tgt  any
		kind string
		want string
	}{
		{"*", "glob", "a1 a2 b1"}, {"a?", "", "a1 a2"}, {"b1", "glob", "b1"}, {[]any{"a2", "b1", 7}, "list", "a2 b1"},
		{"a1,b1", "list", "a1 b1"}, {"a.", "pcre", "a1 a2"}, {"* and not L@a1,b1", "compound", "a2"},
		{"os:Linux", "grain", ""},
	} {
		meant := whom(payload.NewJob(payload.M("tgt", tt.tgt, "tgt_type", tt.kind)))
		var got []string
		for _, id := range []string{"a1", "a2", "b1"} {
			if meant(id) {
				got = append(got, id)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v %s: %v", tt.tgt, tt.kind, got)
		}
	}
}

// answerJob publishes a job to all minions, and then one to a list of two.
func answerJob(t *testing.T, f *Fleet, c *client.Client, size int64) {
	t.Helper()
	for _, tt := range []struct {
		tgt  any
		kind string
		want int64
	}{{"*", "glob", size}, {[]any{"e0001", "e0002"}, "list", 2}, {"e0003", "glob", 1}} {
		before := f.Counts()
		eventually(t, fmt.Sprintf("answers of %v", tt.tgt), func() bool {
			// the subscription may be later than the first job
			if _, err := c.Publish(t.Context(), client.Job{Tgt: tt.tgt, TgtType: tt.kind,
				Fun: "test.ping"}); err != nil {
				t.Fatal(err)
			}
			return f.Counts().Returns >= before.Returns+tt.want
		})
	}
}

func fireBursts(t *testing.T, f *Fleet, c *client.Client, size int) {
	t.Helper()
	f.Hold(true)
	defer f.Hold(false)
	pub, err := c.Publish(t.Context(), client.Job{Tgt: "*", Fun: "test.ping"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Returns(t.Context(), []string{pub.JID}, 4)
	if err != nil || b.Err != nil || b.Sent != size || b.Refused != 0 || b.Rate() <= 0 {
		t.Errorf("returns: %+v, %v", b, err)
	}
	b, err = f.SignIns(t.Context(), 2, 4)
	if err != nil || b.Err != nil || b.Sent != 2*size || b.Refused != 0 {
		t.Errorf("sign-ins: %+v, %v", b, err)
	}
}

// TestAccepted: only an acceptance counts as one.
func TestAccepted(t *testing.T) {
	for name, reply := range map[string][]byte{"nothing": nil, "text": []byte("\xa8bad load"),
		"no map inside": []byte("\x81\xa4load\xa1x")} {
		if accepted(reply) == nil {
			t.Errorf("%s counts as an acceptance", name)
		}
	}
}
