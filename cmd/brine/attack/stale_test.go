package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// TestStaleSession: after another key was accepted for an id, the former owner has no session any more, does
// not know the session of the new owner, and does not get the new shared key.
func TestStaleSession(t *testing.T) {
	const id = "taken"
	for _, tt := range []struct {
		name     string
		exchange func(s *site, pub string) // makes pub the accepted key
	}{
		{"accepted with salt-key", func(s *site, pub string) {
			s.write(s.pki("minions_denied/"+id), pub)
			if r := s.tool("salt-key", "-y", "--include-denied", "-a", id); r.code != 0 || !strings.Contains(r.stdout,
				"accepted") {
				s.t.Fatalf("salt-key: %+v", r)
			}
		}},
		{"copied over the old one", func(s *site, pub string) { s.write(s.pki("minions/"+id), pub) }},
		{"deleted and accepted anew", func(s *site, pub string) {
			if err := os.Remove(s.pki("minions/" + id)); err != nil {
				s.t.Fatal(err)
			}
			s.write(s.pki("minions/"+id), pub)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, "")
			key, err := crypt.GenerateKey(2048)
			if err != nil {
				t.Fatal(err)
			}
			old := s.thief(id, nil)
			load := payload.M("cmd", "_file_envs", "id", id)
			old.must(load)
			before := s.session(id)
			bus := s.listen()

			tt.exchange(s, key.Public().PEM())
			if v, err := old.do(load); err == nil {
				t.Errorf("the old owner is answered %v", v)
			}
			owner := s.thief(id, func(o *auth.MinionOptions) { o.Key = key })
			owner.must(load)
			if after := s.session(id); after == before {
				t.Error("the new owner has the session key of the old one")
			}
			if step, err := old.trySignIn(); err != nil || step.Verdict == auth.Accepted {
				t.Errorf("the old owner signs in: %+v, %v", step, err)
			}
			if v, err := old.do(load); err == nil {
				t.Errorf("the old owner is answered %v", v)
			}
			owner.must(load)
			s.eventually("a new shared key", func() error {
				if !bus.has(func(tag string, data *payload.Map) bool {
					return tag == "key" && data.Value("rotate_aes_key") == true
				}) {
					return os.ErrNotExist
				}
				return nil
			})
			s.good()
		})
	}
}

// session is the session key of an id on disk.
func (s *site) session(id string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cache("sessions"), id))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}
