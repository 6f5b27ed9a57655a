package disks

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/grains"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func TestDisks(t *testing.T) {
	h := grains.NewHost(grains.Options{Root: modtest.Files(t, map[string]string{
		"sys/devices/pci/sda/queue/rotational": "1\n", "sys/devices/pci/nvme0/queue/rotational": "0\n",
		"sys/devices/virtual/loop0/queue/rotational": "1\n"})})
	dir := h.Path("sys/block")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pci/sda", "pci/nvme0", "virtual/loop0"} {
		if err := os.Symlink("../devices/"+name, filepath.Join(dir, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	if got := find(h); !payload.Equal(got, payload.M("disks", []any{"sda"}, "ssds", []any{"nvme0"})) {
		t.Errorf("got %v", got)
	}
}
