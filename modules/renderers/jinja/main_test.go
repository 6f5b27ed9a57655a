package jinja

import (
	"os"
	"testing"
)

// TestMain sets the zone the answers were recorded in, before anything asks for the time.
func TestMain(m *testing.M) {
	os.Setenv("TZ", "UTC")
	os.Exit(m.Run())
}
