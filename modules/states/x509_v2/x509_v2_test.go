package x509_v2_test

import (
	"testing"

	"brine/modules/host/program"
	"brine/modules/states/statetest"
)

// TestAsSalt: the states and the functions of x509 answer as those of Salt 3008.3, and OpenSSL reads what they make.
func TestAsSalt(t *testing.T) {
	if program.Which("openssl") == "" {
		t.Skip("no openssl here")
	}
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}
