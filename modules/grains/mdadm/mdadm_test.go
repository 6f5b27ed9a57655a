package mdadm

import (
	"testing"

	"brine/modules/grains"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func TestDevices(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  *payload.Map
	}{
		{"mdadm", map[string]string{"proc/mdstat": "Personalities : [raid1]\nmd1 : active raid1\nmd0 : active " +
			"raid1\nunused devices: <none>\n"}, payload.M("mdadm", []any{"md0", "md1"})},
		{"no mdadm", nil, payload.NewMap(0)},
	} {
		if got := devices(grains.NewHost(grains.Options{Root: modtest.Files(t, tt.files)})); !payload.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
