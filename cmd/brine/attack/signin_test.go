package attack

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/wire/payload"
)

// signInLoad is the sign-in of a new minion.
func (s *site) signInLoad(id string) *payload.Map {
	s.t.Helper()
	key, err := oneKey()
	if err != nil {
		s.t.Fatal(err)
	}
	return payload.M("cmd", payload.CmdAuth, "id", id, "nonce", strings.Repeat("a", 32), "pub", key.Public().PEM(),
		"token", make([]byte, 256))
}

// pendingKeys lists the pending keys.
func (s *site) pendingKeys() []os.DirEntry {
	s.t.Helper()
	all, err := os.ReadDir(s.pki("minions_pre"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return all
}

// TestSignInSizes: a sign-in that no minion would send is not stored, not logged and not fired as an event.
func TestSignInSizes(t *testing.T) {
	s := newSite(t, "")
	e := s.listen()
	long := strings.Repeat("evil", 5<<20)
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]any{"id": long, "pub": long, "nonce": long, "token": []byte(long),
		"enc_algo": long, "sig_algo": long, "cmd": long, "autosign_grains": payload.M(long, long)} {
		for range 4 {
			if _, err := s.stranger().ask(s.signInLoad("evil").Set(field, value)); err != nil {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	s.good()
	if n := strings.Count(s.logOf(s.master), strings.Repeat("evil", 60)); n > 0 {
		t.Errorf("the log shows %d long names whole", n)
	}
	for _, h := range e.all() {
		if len(h.tag) > 1000 || strings.Contains(h.data.Str("id"), "evilevil") {
			t.Errorf("event %s", payload.Show(h.tag))
		}
	}
	if after, err := s.master.rss(); err != nil || after > before+400<<20 {
		t.Errorf("memory grew from %d to %d MiB, %v", before>>20, after>>20, err)
	}
	s.good()
}

// TestPendingFlood: pending keys are limited in number, and in rate by address. Earlier keys stay.
func TestPendingFlood(t *testing.T) {
	s := newBareSite(t, "auto_accept: False\nmax_pending_keys: 30\n")
	p := s.stranger()
	for i := range 60 {
		v, err := p.ask(s.signInLoad(fmt.Sprint("flood", i)))
		if err != nil || v == nil {
			t.Fatalf("sign-in %d: %v, %v", i, v, err)
		}
	}
	if n := len(s.pendingKeys()); n < 25 || n > 31 {
		t.Errorf("%d keys are pending, of 30 at most", n)
	}
	s.said(s.master, "max_pending_keys")
	s.good()
	if r := s.tool("salt-key", "-y", "-d", "flood*"); r.code != 0 {
		t.Fatalf("salt-key: %+v", r)
	}
	s.eventually("a key that comes when there is room", func() error {
		if _, err := p.ask(s.signInLoad("late")); err != nil {
			t.Fatal(err)
		}
		if keys := s.pendingKeys(); len(keys) != 1 || keys[0].Name() != "late" {
			return fmt.Errorf("pending: %v", keys)
		}
		return nil
	})
}

// TestPendingRate: one address can bring new keys only at a limited rate.
func TestPendingRate(t *testing.T) {
	s := newBareSite(t, "auto_accept: False\npending_keys_rate: 2\n")
	p := s.stranger()
	for i := range 60 {
		if _, err := p.ask(s.signInLoad(fmt.Sprint("flood", i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.pendingKeys()); n < 20 || n > 25 {
		t.Errorf("%d keys are pending, of some 20", n)
	}
	s.said(s.master, "pending_keys_rate")
	if _, err := s.strangerFrom("127.0.0.7").ask(s.signInLoad("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.pki("minions_pre/elsewhere")); err != nil {
		t.Errorf("a key from another address: %v", err)
	}
	s.good()
}
