package attack

import (
	"fmt"
	"os"
	"testing"

	"brine/wire/client"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// TestForgedPublications: a thief who has the key of one minion, and so the key that publications are sealed with,
// stands between the master and another minion. What he makes up is not run, whatever he signs it with and whatever its
// number is; what comes from the master is. The minion has Salt's default, which asks for no signatures.
func TestForgedPublications(t *testing.T) {
	const id = "victim"
	s := newSite(t, "")
	r, ran := s.relay(), s.path("ran")
	s.startMinion(id, fmt.Sprintf("publish_port: %d\n", r.port))
	s.eventually("the minion behind the relay", func() error {
		got, err := s.run(second(), client.Job{Tgt: id, Fun: "test.ping"})
		if err == nil && got[id] == nil {
			err = fmt.Errorf("no return")
		}
		return err
	})
	th := s.namer("thief")
	own, err := crypt.GenerateKey(2048)
	if err != nil {
		t.Fatal(err)
	}
	real := r.last(t)
	jids := 0
	for i, sign := range []func(box []byte) (any, any){
		func([]byte) (any, any) { return nil, nil },
		func([]byte) (any, any) { return []byte{}, crypt.PKCS1v15SHA1 },
		func([]byte) (any, any) { return make([]byte, 256), crypt.PKCS1v15SHA1 },
		func([]byte) (any, any) { return "text", "no algorithm" },
		func([]byte) (any, any) { return real.Value("sig"), real.Value("sig_algo") },
		func(box []byte) (any, any) {
			sig, err := own.Sign(crypt.PKCS1v15SHA1, box)
			if err != nil {
				t.Fatal(err)
			}
			return sig, crypt.PKCS1v15SHA1
		},
	} {
		for _, serial := range []any{nil, int64(1 << 40), "x"} {
			jids++ // none is refused for what came before
			load := payload.M("tgt_type", "glob", "jid", fmt.Sprintf("2098010100000000%04d", jids), "tgt", "*", "ret",
				"", "user", "root", "arg", []any{fmt.Sprintf("echo 'forged %d %v' >> %s", i, serial, ran)}, "fun",
				"cmd.run")
			if serial != nil {
				load.Set("serial", serial)
			}
			packed, err := payload.Marshal(load)
			if err != nil {
				t.Fatal(err)
			}
			forgery := payload.M("enc", "aes", "load", th.shared.Seal(packed, ""))
			if sig, algo := sign(forgery.Bytes("load")); sig != nil {
				forgery.Set("sig_algo", algo).Set("sig", sig)
			}
			frame, err := payload.Marshal(forgery)
			if err == nil {
				err = r.pub.Send(frame)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := s.run(patience, client.Job{Tgt: id, Fun: "cmd.run",
		Arg: []any{"echo real >> " + ran}}); err != nil || got[id] == nil {
		t.Fatalf("%v, %v", got, err)
	}
	if text, err := os.ReadFile(ran); err != nil || string(text) != "real\n" {
		t.Errorf("ran %q, %v", text, err)
	}
	s.said(s.minions[id], "not signed")
	s.good()
}

// last is the last publication that has passed.
func (r *relay) last(t *testing.T) *payload.Map {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := payload.Unmarshal(r.seen[len(r.seen)-1])
	m, ok := v.(*payload.Map)
	if err != nil || !ok || m.Bytes("sig") == nil {
		t.Fatalf("%v, %v", v, err)
	}
	return m
}
