package attack

import (
	"strings"
	"testing"

	"brine/wire/auth"
	"brine/wire/payload"
)

// TestReturnSignatures returns for a job without a signature, with an invalid one, and with that of another
// load, to a master that demands signatures. Only signed returns are passed on.
func TestReturnSignatures(t *testing.T) {
	s := newBareSite(t, "require_minion_sign_messages: True\ndrop_messages_signature_fail: True\n")
	s.startMinion(honest, "minion_sign_messages: True\n")
	bus := s.listen()
	th := s.thief("signer", nil)
	ret := func(jid string) *payload.Map {
		return payload.M("cmd", payload.CmdReturn, "id", "signer", "jid", jid, "fun", "test.ping", "return", true,
			"retcode", 0, "success", true)
	}
	signer := s.thief("signer", func(o *auth.MinionOptions) { o.SignMessages = true })
	for i, load := range []*payload.Map{
		ret("20261101000000000001"),
		ret("20261101000000000002").Set("sig", []byte("no signature")),
		ret("20261101000000000003").Set("sig", ""),
		ret("20261101000000000004").Set("sig", nil),
		ret("20261101000000000005").Set("sig", []any{"x"}),
		ret("20261101000000000006").Set("sig", payload.NewMap(0)),
		ret("20261101000000000007").Set("sig", make([]byte, 256)),
	} {
		if v := th.must(load); v != false {
			t.Errorf("load %d: answered %v, want false", i, v)
		}
	}
	if v := signer.must(ret("20261101000000000009")); v != nil {
		t.Errorf("a signed return: answered %v", v)
	}
	s.good()
	if !bus.has(func(tag string, _ *payload.Map) bool { return tag == "salt/job/20261101000000000009/ret/signer" }) {
		t.Error("the signed return is not on the bus")
	}
	for _, h := range bus.all() {
		if strings.HasPrefix(h.tag, "salt/job/2026110100000000000") && !strings.Contains(h.tag, "000009") {
			t.Errorf("a return without its signature is on the bus: %s %v", h.tag, h.data)
		}
	}
}
