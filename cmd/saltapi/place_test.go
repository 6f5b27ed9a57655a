package saltapi

import (
	"log/slog"
	"path/filepath"
	"testing"

	"brine/wire/control"
)

// TestPlaces: each salt-api beside a master has its own folder. The next salt-api takes a folder that is free
// again. The number of folders is limited.
func TestPlaces(t *testing.T) {
	dir, log := filepath.Join(t.TempDir(), "sock"), slog.New(slog.DiscardHandler)
	take := func() *place {
		t.Helper()
		p, err := takePlace(dir, log)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all := make([]*place, control.APIMost)
	for i := range all {
		if all[i] = take(); all[i].name != control.APIFolder(i+1) {
			t.Errorf("number %d has %s", i+1, all[i].name)
		}
	}
	if p, err := takePlace(dir, log); err == nil {
		t.Errorf("one too many has %s", p.name)
	}
	if err := all[0].leave(); err != nil {
		t.Fatal(err)
	}
	if all[0] = take(); all[0].name != "api" {
		t.Errorf("the place that was left is not taken, but %s", all[0].name)
	}
	for _, p := range all {
		if err := p.leave(); err != nil {
			t.Error(err)
		}
	}
}
