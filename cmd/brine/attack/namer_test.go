package attack

import (
	"time"

	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// namer is a thief who seals any load with the received keys, and so can use any id.
type namer struct {
	*thief
	shared, session *crypt.Box
}

// namer signs in as a minion that shares oneKey.
func (s *site) namer(id string) *namer {
	s.t.Helper()
	return s.thief(id, nil).namer()
}

// namer signs in again and keeps the keys of the reply.
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

// namerNonce is the nonce of all requests.
const namerNonce = "0123456789abcdef0123456789abcdef"

// complete adds the fields that a request of version 3 needs.
func (n *namer) complete(load *payload.Map) *payload.Map {
	load = load.Clone().Set("ts", time.Now().Unix()).Set("tok", n.auth.Token())
	if !load.Has("nonce") {
		load.Set("nonce", namerNonce)
	}
	return load
}

// sayPacked sends a packed load in version 3.
func (n *namer) sayPacked(packed []byte) error {
	req := payload.Request{Enc: payload.EncAES, Version: 3, ID: n.id, Load: n.session.Seal(packed, ""),
		EncAlgo: crypt.OAEPSHA1, SigAlgo: crypt.PKCS1v15SHA1}
	frame, err := req.Encode()
	if err != nil {
		return err
	}
	_, err = n.send(patience, frame)
	return err
}

// say sends a load unchanged in a version of the protocol, and ignores the answer.
func (n *namer) say(version int, load *payload.Map) error {
	_, err := n.exchange(version, load)
	return err
}

// told is say, and decrypts the answer with the known keys.
func (n *namer) told(version int, load *payload.Map) string {
	n.s.t.Helper()
	reply, err := n.exchange(version, load)
	if err != nil {
		n.s.t.Fatal(err)
	}
	v, _ := payload.Unmarshal(reply)
	text := string(reply)
	for _, box := range []*crypt.Box{n.shared, n.session} {
		for _, nonce := range []string{"", namerNonce} {
			if plain, err := box.Open(payload.AsBytes(v), nonce); err == nil {
				text += string(plain)
			}
		}
	}
	return text
}

func (n *namer) exchange(version int, load *payload.Map) (reply []byte, err error) {
	load = load.Clone()
	req := payload.Request{Enc: payload.EncAES, Version: version, EncAlgo: crypt.OAEPSHA1, SigAlgo: crypt.PKCS1v15SHA1}
	box := n.shared
	if version > 1 && !load.Has("nonce") {
		load.Set("nonce", namerNonce)
	}
	if version > 2 {
		load.Set("ts", time.Now().Unix())
		req.ID, box = n.id, n.session
	}
	packed, err := payload.MarshalLoad(load)
	if err != nil {
		return nil, err
	}
	req.Load = box.Seal(packed, "")
	frame, err := req.Encode()
	if err != nil {
		return nil, err
	}
	return n.send(patience, frame)
}
