package auth

import (
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// BenchmarkHandle signs in a known minion with its token: two private operations of the master.
func BenchmarkHandle(b *testing.B) {
	c := acceptedAt(b, nil)
	m, trust := newMinion(b, nil)
	trust.master = keysOf(b).pub("master")
	frame, err := m.Request()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		req, err := payload.DecodeRequest(frame)
		if err != nil {
			b.Fatal(err)
		}
		if _, out := c.at.Handle(req, testTime); out.Act != ActAccept {
			b.Fatalf("%+v", out)
		}
	}
}

// BenchmarkHandlePending signs in a minion that waits for an operator.
func BenchmarkHandlePending(b *testing.B) {
	at := newMaster(b, nil)
	req := &payload.Request{Enc: payload.EncClear, Version: 3, Load: signInLoad(b, "m1", "minion")}
	b.ReportAllocs()
	for b.Loop() {
		if _, out := at.Handle(req, testTime); out.Act != ActPend {
			b.Fatalf("%+v", out)
		}
	}
}

// BenchmarkOpenRequest opens the return of a test.ping in version 3, from the frame to the load.
func BenchmarkOpenRequest(b *testing.B) {
	c := acceptedAt(b, nil)
	m, _ := newMinion(b, nil)
	signedInto(b, m, c.at.sessions.key["m1"], 3)
	frame, _, err := m.Seal(payload.M("cmd", payload.CmdReturn, "id", "m1", "jid", "20261121022847985734", "fun",
		"test.ping", "fun_args", []any{}, "return", true, "retcode", 0, "success", true, "user", "root"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		req, err := payload.DecodeRequest(frame)
		if err != nil {
			b.Fatal(err)
		}
		o, _ := c.at.OpenRequest(req, testTime)
		if o == nil {
			b.Fatal("refused")
		}
		o.Seal([]byte{0xc0})
	}
}

// BenchmarkToken checks tokens that are not cached.
func BenchmarkToken(b *testing.B) {
	c := acceptedAt(b, nil)
	pub := keysOf(b).pub("minion")
	for b.Loop() {
		c.at.peers.forget("m1")
		if !c.at.checkToken("m1", pub, c.tok) {
			b.Fatal("refused")
		}
	}
}

func BenchmarkSealPublication(b *testing.B) {
	at := newMaster(b, nil)
	load := payload.M("fun", "test.ping", "arg", []any{}, "tgt", "*", "jid", "20261121022847985734", "ret", "",
		"tgt_type", "glob", "user", "root")
	for _, signed := range []bool{true, false} {
		name := map[bool]string{true: "signed", false: "unsigned"}[signed]
		b.Run(name, func(b *testing.B) {
			at.opt.SignPublications = signed
			b.ReportAllocs()
			for b.Loop() {
				if _, err := at.SealPublication(load); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpenPublication(b *testing.B) {
	at := newMaster(b, nil)
	frame, err := at.SealPublication(payload.M("fun", "test.ping", "arg", []any{}, "tgt", "*", "jid",
		"20261121022847985734", "ret", "", "tgt_type", "glob", "user", "root"))
	if err != nil {
		b.Fatal(err)
	}
	m, _ := newMinion(b, nil)
	signedInto(b, m, at.SharedKey(), 3)
	b.ReportAllocs()
	for b.Loop() {
		m.creds.serial.last = 0
		if _, err := m.OpenPublication(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMinionSeal(b *testing.B) {
	m, _ := newMinion(b, nil)
	signedInto(b, m, crypt.NewKeyString(), 3)
	load := payload.M("cmd", payload.CmdReturn, "id", "m1", "jid", "20261121022847985734", "fun", "test.ping", "return",
		true)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := m.Seal(load); err != nil {
			b.Fatal(err)
		}
	}
}
