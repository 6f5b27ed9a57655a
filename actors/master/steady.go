package master

import "time"

// steady watches whether the clock of the machine goes on as time does. What is removed for its age is removed by the
// clock: after a jump of a year everything would be too old at once, and gone when the clock is right again.
type steady struct {
	wall    time.Time     // at the last look
	elapsed time.Duration // and the time since the start, which no clock can set
	jumped  time.Duration // when the last jump was seen; 0: none was
	by      time.Duration // how far
}

const (
	jumpMost = time.Minute // less than that is how clocks are corrected, and a machine that slept for a moment
	jumpRest = time.Hour   // after a jump nothing is removed for its age
)

// look takes the time of the machine and that since the start; it returns how far the clock has jumped since the last look.
func (s *steady) look(wall time.Time, elapsed time.Duration) (jump time.Duration) {
	wall = wall.Round(0)
	if !s.wall.IsZero() {
		jump = wall.Sub(s.wall) - (elapsed - s.elapsed)
	}
	s.wall, s.elapsed = wall, elapsed
	if jump.Abs() <= jumpMost {
		return 0
	}
	s.jumped, s.by = elapsed, jump
	return jump
}

// calm says that the clock has not jumped for a while.
func (s *steady) calm() bool { return s.jumped == 0 || s.elapsed-s.jumped >= jumpRest }
