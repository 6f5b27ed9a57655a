package returners

import "time"

// CallTimeout bounds one call of a returner.
const CallTimeout = time.Minute

// Pauses of a returner that failed.
const (
	firstPause = time.Second
	maxPause   = 5 * time.Minute
)

// Pause is how long a returner that failed is let be: before is the pause after its last failure, 0 when it has
// succeeded since.
func Pause(before time.Duration) time.Duration { return min(max(2*before, firstPause), maxPause) }
