package attack

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestAPITokenStorm: endless invalid tokens, sent in every way, cost the master at most a hundred questions a
// minute. A user with a valid token does not notice, even at the same address.
func TestAPITokenStorm(t *testing.T) {
	a := newAPI(t)
	id := a.logIn("127.0.0.66", "fred")
	var asked, held atomic.Int64
	var storm sync.WaitGroup
	began := time.Now()
	for worker := range 8 {
		storm.Go(func() {
			for i := range 250 {
				token := fmt.Sprintf("%064x", worker*250+i)
				r := reply{}
				switch i % 3 {
				case 0:
					r = a.ask("127.0.0.66", "GET", "/events", token, "")
				case 1:
					r = a.ask("127.0.0.66", "POST", "/run", "",
						fmt.Sprintf(`{"client": "local", "tgt": "*", "fun": "test.ping", "token": %q}`, token))
				default:
					r = a.ask("127.0.0.66", "POST", "/run", "",
						fmt.Sprintf(`{"client": "runner", "fun": "manage.up", "token": %q}`, token))
				}
				switch r.status {
				case http.StatusUnauthorized:
					asked.Add(1)
				case http.StatusServiceUnavailable:
					held.Add(1)
				default:
					t.Errorf("a token that is none: %d %s", r.status, r.body)
				}
			}
		})
	}
	for range 20 {
		if r := a.ask("127.0.0.66", "POST", "/", id,
			`{"client": "local", "tgt": "honest", "fun": "test.ping"}`); r.status != http.StatusOK {
			t.Errorf("beside the storm: %d %s", r.status, r.body)
		}
	}
	storm.Wait()
	minutes := int64(time.Since(began)/time.Minute) + 2 // minutes that have begun
	if n := asked.Load(); n > 100*minutes {
		t.Errorf("the master was asked about %d tokens in %v", n, time.Since(began))
	}
	t.Logf("%d asked, %d held back in %v", asked.Load(), held.Load(), time.Since(began))
	a.s.said(a.daemon, "a client has sent too many invalid tokens")
	a.end()
}
