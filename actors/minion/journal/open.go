package journal

import (
	"errors"
	"log/slog"
	"time"
)

// patience is how long the start waits for the journal to be let go.
const patience = 5 * time.Second

// Open is openFile that waits for a predecessor that is about to end; wait 0: as long as usual. A
// process that was killed is gone, but a child that it was just starting holds a copy of the lock until it runs its
// program; on a busy machine that takes a while. Without the journal nobody would answer for the jobs that have died
// with it.
func Open(path string, wait time.Duration, log *slog.Logger) (*File, error) {
	if wait <= 0 {
		wait = patience
	}
	end, said := time.Now().Add(wait), false
	for {
		file, err := openFile(path)
		if !errors.Is(err, errTaken) || time.Now().After(end) {
			return file, err
		}
		if !said {
			log.Warn("another process has the journal of jobs; waiting for its end", "path", path)
			said = true
		}
		time.Sleep(5 * time.Millisecond)
	}
}
