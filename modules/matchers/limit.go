package matchers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/wire/payload"
	"brine/wire/python/re"
)

// ErrTime means a target whose time was over before it was worked out.
var ErrTime = errors.New("matchers: the target takes too long")

const (
	// minionTime bounds the work on a target on a minion.
	minionTime = 2 * time.Second
	// maxGlobWork bounds the product of pattern and text, in bytes, of one match of a glob.
	maxGlobWork = 64 << 20
	// looks is how many steps go by between two looks at the clock.
	looks = 256
	// heavy is how much work goes by between two looks; a match by the engine with a deadline is worth one.
	heavy = re.SlowWork
	// maxLevels is how many levels an expression of grains or pillars has at most; no data of Salt is nested deeper.
	maxLevels = 512
)

// limit ends the work on one target: data and patterns may both come from who means ill. A nil limit has no end.
type limit struct {
	ends  func() error
	steps int
	work  int
	err   error
}

// untilDone ends with a context.
func untilDone(ctx context.Context) *limit {
	return &limit{ends: func() error {
		if ctx.Err() == nil {
			return nil
		}
		return fmt.Errorf("%w: %w", ErrTime, context.Cause(ctx))
	}}
}

// forMinion ends minionTime after its first step.
func forMinion() *limit {
	var end time.Time
	return &limit{ends: func() error {
		now := time.Now()
		if end.IsZero() {
			end = now.Add(minionTime)
		}
		if now.Before(end) {
			return nil
		}
		return ErrTime
	}}
}

// over counts a step and tells whether the work is to end.
func (l *limit) over() bool {
	if l == nil {
		return false
	}
	if l.err == nil {
		if l.steps%looks == 0 {
			l.err = l.ends()
		}
		l.steps++
	}
	return l.err != nil
}

// weigh counts work that was done between two steps.
func (l *limit) weigh(work int) {
	if l == nil {
		return
	}
	if l.work += work; l.work >= heavy {
		l.look()
	}
}

// look looks at the clock, behind what may have taken long by itself.
func (l *limit) look() {
	if l == nil {
		return
	}
	l.work = 0
	if l.err == nil {
		l.err = l.ends()
	}
}

// failed ends the work: a single match took too long, and the next one would too.
func (l *limit) failed(err error) {
	if l != nil && l.err == nil {
		l.err = fmt.Errorf("%w: %w", ErrTime, err)
	}
}

// reason is why the work has ended; nil while it goes on.
func (l *limit) reason() error {
	if l == nil {
		return nil
	}
	return l.err
}

// fits refuses patterns that are longer than any tool sends.
func fits(pattern string) error {
	if len(pattern) > payload.MaxPattern {
		return targetErr("pattern of %d bytes", len(pattern))
	}
	return nil
}
