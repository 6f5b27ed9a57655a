package attack

import (
	"time"

	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// namer is a thief who seals what he wants with the keys that he was given, and so names whom he wants.
type namer struct {
	*thief
	shared, session *crypt.Box
}

// namer is a namer who signs in as a minion that shares oneKey.
func (s *site) namer(id string) *namer {
	s.t.Helper()
	return s.thief(id, nil).namer()
}

// namer signs in once more and keeps the keys of the reply.
func (th *thief) namer() *namer {
	s, n := th.s, &namer{thief: th}
	s.t.Helper()
	frame, err := n.auth.Request()
	if err != nil {
		s.t.Fatal(err)
	}
	reply, err := n.send(patience, frame)
	if err != nil {
		s.t.Fatal(err)
	}
	outer, _ := payload.Unmarshal(reply)
	signed, _ := outer.(*payload.Map)
	v, _ := payload.Unmarshal(signed.Bytes("load"))
	inner, _ := v.(*payload.Map)
	open := func(field string) *crypt.Box {
		text, err := th.key.Decrypt(crypt.OAEPSHA1, inner.Bytes(field))
		if err != nil {
			s.t.Fatalf("%s in %v: %v", field, inner, err)
		}
		box, err := crypt.NewBox(string(text))
		if err != nil {
			s.t.Fatal(err)
		}
		return box
	}
	n.shared, n.session = open("aes"), open("session")
	if step := n.auth.Reply(reply); step.Verdict != auth.Accepted {
		s.t.Fatalf("sign-in: %+v", step)
	}
	return n
}

// say sends a load as it is in a version of the protocol; what answers is not looked at.
func (n *namer) say(version int, load *payload.Map) error {
	load = load.Clone()
	req := payload.Request{Enc: payload.EncAES, Version: version, EncAlgo: crypt.OAEPSHA1, SigAlgo: crypt.PKCS1v15SHA1}
	box := n.shared
	if version > 1 && !load.Has("nonce") {
		load.Set("nonce", "0123456789abcdef0123456789abcdef")
	}
	if version > 2 {
		load.Set("ts", time.Now().Unix())
		req.ID, box = n.id, n.session
	}
	packed, err := payload.MarshalLoad(load)
	if err != nil {
		return err
	}
	req.Load = box.Seal(packed, "")
	frame, err := req.Encode()
	if err != nil {
		return err
	}
	_, err = n.send(patience, frame)
	return err
}
