package attack

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// weakKeys are public keys that can be broken, by their weakness.
func weakKeys(t testing.TB) map[string]string {
	t.Helper()
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n *rsa.PublicKey, e int) string {
		der, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: n.N, E: e})
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	}
	return map[string]string{"1024 bits": text(&short.PublicKey, 65537), "exponent 3": text(&strong.PublicKey, 3),
		"exponent 65535": text(&strong.PublicKey, 65535)}
}

// offer signs in with a public key and returns the signed part of the master's answer.
func (p *stranger) offer(id, pub string) *payload.Map {
	p.s.t.Helper()
	v, err := p.ask(payload.M("cmd", payload.CmdAuth, "id", id, "nonce", "0123456789abcdef0123456789abcdef",
		"enc_algo", crypt.OAEPSHA1, "sig_algo", crypt.PKCS1v15SHA1, "pub", pub))
	if err != nil {
		p.s.t.Fatal(err)
	}
	outer, _ := v.(*payload.Map)
	inner, err := payload.UnmarshalMap(outer.Bytes("load"))
	if err != nil {
		p.s.t.Fatalf("%v: %v", v, err)
	}
	return inner
}

// TestWeakKeys: a weak key is neither stored nor accepted, whatever an operator decided about it before.
func TestWeakKeys(t *testing.T) {
	s := newSite(t, "")
	bus := s.listen()
	for what, pub := range weakKeys(t) {
		id := strings.ReplaceAll(what, " ", "-")
		for _, before := range []string{"", "minions_pre", "minions"} {
			if before != "" {
				s.write(s.pki(before+"/"+id), pub)
			}
			inner := s.stranger().offer(id, pub)
			if inner.Value("ret") != false || inner.Has("aes") {
				t.Errorf("%s, %q: %v", what, before, inner)
			}
			if before == "" {
				for _, dir := range []string{"minions", "minions_pre", "minions_denied", "minions_rejected"} {
					if _, err := os.Stat(s.pki(dir + "/" + id)); err == nil {
						t.Errorf("%s: the key is stored in %s", what, dir)
					}
				}
			}
			if before == "minions_pre" {
				if r := s.tool("salt-key", "-y", "-a", id); !strings.Contains(r.stderr,
					"Unable to accept invalid key for "+id) || !strings.Contains(r.stderr, "allow_weak_keys") {
					t.Errorf("%s: salt-key: %+v", what, r)
				}
				if _, err := os.Stat(s.pki("minions/" + id)); err == nil {
					t.Errorf("%s: salt-key has accepted the key", what)
				}
				if err := os.Remove(s.pki(before + "/" + id)); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.said(s.master, "minion="+id+" why=\"weak RSA key: ")
		s.eventually("event", func() error {
			if !bus.has(func(tag string, data *payload.Map) bool {
				return tag == "salt/auth" && data.Str("id") == id && data.Value("result") == false &&
					strings.Contains(data.Str("why"), "allow_weak_keys")
			}) {
				return os.ErrNotExist
			}
			return nil
		})
	}
	if n := strings.Count(s.logOf(s.master), "[WARNING ] sign-in refused"); n != 3 {
		t.Errorf("%d warnings about 3 minions", n)
	}
	s.good()
}

// TestWeakKeysAllowed: an operator can permit machines with such keys.
func TestWeakKeysAllowed(t *testing.T) {
	s := newSite(t, "allow_weak_keys: True\n")
	for what, pub := range weakKeys(t) {
		if inner := s.stranger().offer("weak", pub); !inner.Has("aes") {
			t.Errorf("%s: %v", what, inner)
		}
		if err := os.Remove(s.pki("minions/weak")); err != nil {
			t.Fatal(err)
		}
	}
	s.good()
}

// TestWeakOwnKeys: daemons do not start with a weak key of their own, and name it.
func TestWeakOwnKeys(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	key, err := crypt.GenerateKey(1024)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.MarshalPEM("")
	if err != nil {
		t.Fatal(err)
	}
	for path, pki := range map[string]string{s.pki("master.pem"): s.pki(""),
		s.path("weak/etc/salt/pki/minion/minion.pem"): s.path("weak/etc/salt/pki/minion")} {
		_ = os.Remove(path) // a key that may exist
		s.write(path, string(text))
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		var d *daemon
		if strings.HasPrefix(path, s.path("weak")) {
			d = s.startMinion("weak", "")
		} else {
			d = s.start("master again", links+"/salt-master", "-c", s.path("etc/m"), "--disable-keepalive")
			defer d.kill()
		}
		s.said(d, strings.TrimSuffix(pki, "/")+": weak RSA key: 1024 bits, fewer than 2048; make another one, or "+
			"see allow_weak_keys")
		<-d.done
	}
}
