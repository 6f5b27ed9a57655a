package payload

import "testing"

func TestKnownKeysClaimNothing(t *testing.T) {
	b, err := Marshal(M("cmd", true, "return", true, "retcode", 0, "jid", nil))
	if err != nil {
		t.Fatal(err)
	}
	got := testing.AllocsPerRun(100, func() {
		if _, err := Unmarshal(b); err != nil {
			t.Error(err)
		}
	})
	if got > 2 { // the map and its entries
		t.Errorf("%v allocations for four known keys", got)
	}
}
