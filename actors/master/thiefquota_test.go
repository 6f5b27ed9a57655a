package master

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// peersAtOnce is how many publications and runners of one minion may be waited for at a time.
const peersAtOnce = 16

// noneAtOnce tells whether a minion waits for nothing that it has published or run.
func (r *rig) noneAtOnce(id string) error {
	if r.m.core.handlers.MayWait(id) < peersAtOnce {
		return errors.New("something goes on")
	}
	return nil
}

// denied is how often a minion was refused something, and how often that was told.
func (r *rig) denied(ear *busEar, id string, what ledger.Denial) (n uint64, told int) {
	r.t.Helper()
	r.m.Fire("test/denied", payload.NewMap(0))
	seen := ear.until("test/denied")
	told = len(seen) - len(slices.DeleteFunc(seen, func(tag string) bool { return tag == "brine/minion/refused" }))
	if d := r.m.core.book.Peers.Get(id).Denied; d != nil {
		n = d.N[what]
	}
	return n, told
}

// TestQuotaOfFiles: the files of one minion share a bound; what is beyond it is refused, counted, and told once.
func TestQuotaOfFiles(t *testing.T) {
	r := newRig(t, "file_recv: true", "minion_files_max_bytes: 100000")
	m1, m2 := r.minion("m1"), r.minion("m2")
	ear := r.hear()
	push := func(m *testMinion, name string, n int) any {
		return m.ask(cmd("_file_recv", "path", []any{name}, "loc", 0, "data", bytes.Repeat([]byte("x"), n), "size", n))
	}
	equal(t, "fits", push(m1, "a", 60_000), true)
	for range 3 {
		equal(t, "does not fit", push(m1, "b", 60_000), false)
	}
	equal(t, "another minion's", push(m2, "b", 60_000), true)
	if n, told := r.denied(ear, "m1", ledger.DeniedFiles); n != 3 || told != 1 {
		t.Errorf("counted %d, told %d times", n, told)
	}
}

// TestQuotaOfReturnBytes: bytes of returns are bounded for a minion, those to jobs of the master's included; what is
// refused is not acknowledged.
func TestQuotaOfReturnBytes(t *testing.T) {
	r := newRig(t, "minion_quota_return_bytes: 100000")
	m1, m2 := r.minion("m1"), r.minion("m2")
	ear := r.hear()
	jid := func(i int) string { return fmt.Sprintf("20260101%012d", i) }
	text := string(bytes.Repeat([]byte("x"), 90_000))
	for i := range 2 { // what is spent last may be more
		equal(t, "within", m1.ask(ret("m1", jid(i), "return", text)), nil)
	}
	for i := range 3 {
		equal(t, "beyond", m1.ask(ret("m1", jid(10+i), "return", text)), false)
	}
	equal(t, "another minion's", m2.ask(ret("m2", jid(0), "return", text)), nil)
	equal(t, "stored", r.stored(jid(10)).Len(), 0)
	if n, told := r.denied(ear, "m1", ledger.DeniedBytes); n != 3 || told != 1 {
		t.Errorf("counted %d, told %d times", n, told)
	}
}

// TestQuotaOfPeers: a minion publishes and runs so much in an hour, and waits for so much at once.
func TestQuotaOfPeers(t *testing.T) {
	r := newRig(t, "peer: {'.*': ['test.*']}", "peer_run: {'.*': ['test.*']}", "minion_quota_peer: 30")
	m1, m2 := r.minion("m1"), r.minion("m2")
	ear := r.hear()
	load := func(command string) *payload.Map {
		return cmd(command, "fun", "test.arg", "arg", []any{}, "tgt", "m2", "tgt_type", "glob", "ret", "", "tmo", 60)
	}
	var waiting sync.WaitGroup
	for range peersAtOnce { // nobody answers m1's publications before the end
		asker := r.minion("m1")
		waiting.Go(func() { _, _ = asker.try(load("minion_publish")) })
	}
	jids := map[string]bool{}
	for len(jids) < peersAtOnce {
		jids[ear.jobOf("test.arg")] = true
	}
	for _, command := range []string{"minion_publish", "minion_pub", "minion_runner"} {
		equal(t, command+", one more", m1.ask(load(command)), payload.NewMap(0))
	}
	if got, _ := m2.ask(load("minion_runner")).(*payload.Map); !got.Has("args") {
		t.Errorf("another minion's: %v", got)
	}
	for jid := range jids {
		m2.giveBack(jid, "test.arg", true)
	}
	waiting.Wait()
	for range 30 {
		m1.ask(load("minion_runner"))
	}
	equal(t, "beyond the quota", m1.ask(load("minion_runner")), payload.NewMap(0))
	if n, told := r.denied(ear, "m1", ledger.DeniedPeer); n < 4 || told != 1 {
		t.Errorf("counted %d, told %d times", n, told)
	}
	r.eventually("end of all", func() error { return r.noneAtOnce("m1") })
}
