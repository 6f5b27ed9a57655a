package door

import (
	"fmt"
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := Rates{PerMinute: 6, Now: func() time.Time { return now }}
	take := func(from string) (n int) {
		for r.Take(from) {
			n++
		}
		return n
	}
	if n := take("10.0.0.1"); n != 60 {
		t.Errorf("at once: %d", n)
	}
	if n := take("10.0.0.2"); n != 60 {
		t.Errorf("from another address: %d", n)
	}
	now = now.Add(30 * time.Second)
	if n := take("10.0.0.1"); n != 3 {
		t.Errorf("after half a minute: %d", n)
	}
	for i := range 2 * maxRates {
		r.Take(fmt.Sprint("address", i))
	}
	if n := len(r.from); n > maxRates+1 {
		t.Errorf("%d addresses are kept", n)
	}
	if none := (Rates{}); !none.Take("10.0.0.1") {
		t.Error("without a limit nothing may come")
	}
}
