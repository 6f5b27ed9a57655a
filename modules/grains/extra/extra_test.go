package extra

import (
	"testing"

	"brine/modules/grains"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func TestEFI(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  *payload.Map
	}{
		{"efi", map[string]string{"sys/firmware/efi/efivars/SecureBoot-8be4": "\x06\x00\x00\x00\x01"},
			payload.M("efi", true, "efi-secure-boot", true)},
		{"no efi", nil, payload.M("efi", false, "efi-secure-boot", false)},
	} {
		if got := efi(grains.NewHost(grains.Options{Root: modtest.Files(t, tt.files)})); !payload.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
