package iptables_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	if statetest.Apart(t) {
		statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
			"several ports without a protocol": "no such rule is given to the program",
			"a comment that ends its quotes":   "it is refused",
			"a chain that is an option":        "it is refused",
			"together":                         "the first rule is not lost; test mode saves nothing",
			"rules as an argument step 1":      "test mode saves nothing",
			"already set, not saved":           "the rules are saved, where Salt fails",
		})
	}
}
