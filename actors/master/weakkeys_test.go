package master

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/crypt"
)

// TestWeakKeysListed: one line at the start names the accepted keys that others can break, and only those.
func TestWeakKeysListed(t *testing.T) {
	for conf, want := range map[string]string{"allow_weak_keys: false": "turned away",
		"allow_weak_keys: true": "let in"} {
		r := newSite(t, conf)
		r.accept("strong", "minion")
		weak, err := crypt.GenerateKey(1024)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 + 2 {
			r.writeFile(filepath.Join(r.cfg.PKIDir, "minions", fmt.Sprintf("weak%02d", i)), weak.Public().PEM(), 0o644)
		}
		r.start()
		if line := r.log.Await(t, "keys that others can break"); !strings.Contains(line, want) {
			t.Errorf("%s: %q", conf, line)
		}
		n, minions := r.m.core.signIns.WeakAccepted(t.Context())
		if n != 20+2 || !strings.HasPrefix(minions, "weak00, ") || !strings.HasSuffix(minions,
			"weak19 and 2 more") {
			t.Errorf("%s: %d, %q", conf, n, minions)
		}
		r.stop()
	}
}
