package attack

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// TestThiefDeepReturns: returns are nested as deep as can be read, or deeper, beside honest ones in the same
// group. Each fails alone, or is stored. No honest return is missing, even after a kill.
func TestThiefDeepReturns(t *testing.T) {
	s := newSite(t, "")
	th := s.namer("thief")
	const marker = "deep"
	var jids []string
	for i := range 60 {
		load := payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", fmt.Sprintf("2026010100000000%04d", i), "fun",
			"test.ping", "return", true, "retcode", 0, "extra", marker)
		packed, err := payload.Marshal(th.complete(load))
		if err != nil {
			t.Fatal(err)
		}
		depth := 480 + i // the limits are about 500
		deep := append(bytes.Repeat([]byte{0x91}, depth), 0xc0)
		if err := th.sayPacked(bytes.Replace(packed, append([]byte{0xa0 | byte(len(marker))}, marker...), deep,
			1)); err != nil {
			t.Fatal(err)
		}
		if i%6 == 0 {
			jids = append(jids, s.async(honest, "test.arg", fmt.Sprintf("text-%d", i)))
		}
	}
	for i, jid := range jids {
		s.stored(jid, fmt.Sprintf("text-%d", 6*i))
	}
	s.good()
	s.master.kill()
	s.startMaster()
	for i, jid := range jids {
		s.stored(jid, fmt.Sprintf("text-%d", 6*i))
	}
	s.eventually("the honest minion", func() error { return s.ping(second()) })
	s.good()
}

// TestThiefEvictsNothing: the job store is full of a thief's returns to jobs that were never published. Honest
// jobs stay in it.
func TestThiefEvictsNothing(t *testing.T) {
	s := newSite(t, "job_store_max_bytes: 2097152\n")
	var jids []string
	for i := range 5 {
		jids = append(jids, s.async(honest, "test.arg", fmt.Sprintf("text-%d", i)))
		s.stored(jids[i], fmt.Sprintf("text-%d", i))
	}
	th := s.thief("thief", nil)
	for i := range 100 {
		for _, jid := range []string{"req", fmt.Sprintf("20990101%012d", i)} {
			th.must(payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", jid, "fun", "test.ping", "return",
				strings.Repeat("x", 50_000), "retcode", 0))
		}
	}
	for i, jid := range jids {
		s.stored(jid, fmt.Sprintf("text-%d", i))
	}
	s.eventually("the last job of the thief", func() error { // the store is full by then, at ten megabytes in all
		if got := s.tool("salt-run", "--out=json", "jobs.lookup_jid", fmt.Sprintf("20990101%012d",
			99)); !strings.Contains(got.stdout, "thief") {
			return errors.New(got.stdout + got.stderr)
		}
		return nil
	})
	if got := s.tool("salt-run", "--out=json", "jobs.lookup_jid", fmt.Sprintf("20990101%012d", 0)); strings.Contains(
		got.stdout, "thief") {
		t.Errorf("the first job of the thief is there, so nothing had to go: %.100s", got.stdout)
	}
	s.good()
}

// TestMineOfAnother: mine data for one minion is not given to another one, in any version of the protocol, and
// under any id.
func TestMineOfAnother(t *testing.T) {
	s := newSite(t, "minimum_auth_version: 0\n")
	job := client.Job{Tgt: honest, Fun: "mine.send", Arg: []any{"secret", "its secret",
		payload.M("__kwarg__", true, "mine_function", "test.echo", "allow_tgt", honest)}}
	if got, err := s.run(patience, job); err != nil || got[honest].Value("return") != true {
		t.Fatalf("mine.send: %v, %v", got, err)
	}
	if got, err := s.run(patience, client.Job{Tgt: honest, Fun: "mine.get",
		Arg: []any{honest, "secret"}}); err != nil ||
		!strings.Contains(fmt.Sprint(got[honest].Map("return").Value(honest)), "its secret") {
		t.Fatalf("its own mine: %v, %v", got[honest].Value("return"), err)
	}
	th := s.namer("thief")
	for _, cmd := range []string{payload.CmdMineGet, payload.CmdMineDelete} {
		for _, id := range []any{honest, "thief", "", nil, []any{honest}, []byte(honest)} {
			for version := range 4 {
				for _, tok := range []any{nil, "x", th.auth.Token()} {
					load := payload.M("cmd", cmd, "id", id, "tgt", honest, "fun", "secret", "tgt_type", "glob")
					if tok != nil {
						load.Set("tok", tok)
					}
					if text := th.told(version, load); strings.Contains(text, "its secret") {
						t.Errorf("%s as %v in version %d: %q", cmd, id, version, text)
					}
				}
			}
		}
	}
	if got, err := s.run(patience, client.Job{Tgt: honest, Fun: "mine.get",
		Arg: []any{honest, "secret"}}); err != nil ||
		!strings.Contains(fmt.Sprint(got[honest].Map("return").Value(honest)), "its secret") {
		t.Errorf("its own mine afterwards: %v, %v", got[honest].Value("return"), err)
	}
	s.good()
}
