package eauth

import "testing"

func TestOfMachine(t *testing.T) {
	for name, want := range map[string]bool{"root": true, "sudo_ann": true, "salt": true, "": true, "ann": false,
		"Root": false, "sudo": false, "saltadmin": false} {
		if got := OfMachine(name, "salt", ""); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
