package attack

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"brine/wire/auth"
)

// TestSlowSignInLines: a line of autosign_file or autoreject_file takes years to match a stranger's id. It
// occupies no worker, accepts no key, and is logged once. If the line might reject the key, the key stays
// pending. Lines beside it still accept and reject.
func TestSlowSignInLines(t *testing.T) {
	s := newBareSite(t, "auto_accept: False\nautosign_file: /sign\nautoreject_file: /reject\n")
	s.write(s.path("m/sign"), `(?!db)([a-z]+)*\d`+"\n"+honest+"\nlisted*\naaa*\n")
	s.write(s.path("m/reject"), `(?!listed|honest|a)([a-z]+)*[.]lan`+"\nbad*\n")
	for _, name := range []string{"m/sign", "m/reject"} {
		if err := os.Chmod(s.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.startMinion(honest, "")
	s.good()
	victim := func(c string, n int) string { return strings.Repeat(c, 44) + fmt.Sprint(c, strings.Repeat("x", n)) }
	var all sync.WaitGroup
	for stranger := range 8 {
		all.Go(func() {
			for i := range 5 {
				id := victim("z", 8*i+stranger) // one line might reject it, another accept it
				if v, err := s.offer(id); err != nil || v == auth.Accepted {
					t.Errorf("%s: %v, %v", id, v, err)
				}
			}
		})
	}
	all.Wait()
	s.good()
	signed := victim("a", 0)
	for id, want := range map[string]auth.Verdict{"listed1": auth.Accepted, "bad1": auth.Rejected,
		signed: auth.Accepted} {
		s.eventually(id+" when the lines have rested", func() error {
			if v, err := s.offer(id); err != nil || v != want {
				return fmt.Errorf("%v, %v", v, err)
			}
			return nil
		})
	}
	if n := strings.Count(s.logOf(s.master), "takes too long"); n < 1 || n > 2 {
		t.Errorf("slow lines are named %d times", n)
	}
	if n := len(s.pendingKeys()); n != 40 {
		t.Errorf("%d keys wait", n)
	}
	s.good()
}
