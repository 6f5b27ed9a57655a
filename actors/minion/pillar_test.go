package minion

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/auth"
	"brine/wire/payload"
)

// TestPillarOptions: the options of pass_to_ext_pillars go with each question, and with minion_pillar_cache the answer
// is kept in files.
func TestPillarOptions(t *testing.T) {
	r := newRig(t, "minion_pillar_cache: True\npass_to_ext_pillars: ['rack:place']\nrack: {place: 7, secret: x}\n")
	asked := make(chan *payload.Map, 64)
	r.master().set(func() {
		r.master().answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdPillar {
				asked <- o.Load.Map("extra_minion_data")
			}
			return nil, false
		}
	})
	r.up()
	if got, want := <-asked, payload.M("rack", payload.M("place", 7)); !got.Equal(want) {
		t.Errorf("asked with %v, want %v", got, want)
	}
	for name, want := range map[string]string{"cache.sls": "{where: master}",
		"top.sls": fmt.Sprintf("base:\n  %s: [cache]", r.m.cfg.ID)} {
		file := filepath.Join(r.m.cfg.CacheDir, "pillar", name)
		got, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
