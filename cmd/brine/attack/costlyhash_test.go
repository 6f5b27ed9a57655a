package attack

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// TestCostlyHash: the roots contain a file that takes minutes to hash. Thieves with several keys ask for its
// hash in every form. Meanwhile others get files and pillars.
func TestCostlyHash(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("srv/small"), "small")
	s.write(s.path("srv/huge"), "")
	if err := os.Truncate(s.path("srv/huge"), 1<<38); err != nil {
		t.Skipf("no files of this size here: %v", err)
	}
	s.writeMaster(fmt.Sprintf("file_roots: {base: [%s]}\nhash_type: sha512\n", s.path("srv")))
	s.startMaster()
	s.startMinion(honest, "")
	stop, end := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	for i := range 4 {
		th := s.thief(fmt.Sprint("thief", i), nil)
		for _, cmd := range []string{payload.CmdFileHash, payload.CmdFileHashAndStat} {
			for _, kind := range []string{"md5", "sha512", "blake2b"} {
				frame, _, err := th.auth.Seal(payload.M("cmd", cmd, "id", th.id, "path", "huge", "saltenv", "base",
					"hash_type", kind))
				if err != nil {
					t.Fatal(err)
				}
				storm.Go(func() { _, _ = th.req.Do(stop, frame) }) // no answer arrives in time
			}
		}
	}
	for range 5 {
		got, err := s.run(5*second(), client.Job{Tgt: honest, Fun: "cp.get_file_str", Arg: []any{"salt://small"}})
		if text := fmt.Sprint(got[honest].Value("return")); err != nil || !strings.Contains(text, "small") {
			t.Errorf("a small file: %s, %v", text, err)
		}
		s.good()
	}
	end()
	storm.Wait()
}
