package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is one of a line's: which numbers it may have, and the names of them.
type field struct {
	low, high int
	names     []string // of low and what follows
}

// read reads a list of values, ranges and steps.
func (r field) read(text string) (set, error) {
	var out set
	for part := range strings.SplitSeq(text, ",") {
		s, err := r.part(part)
		if err != nil {
			return 0, fmt.Errorf("%w: %q", ErrLine, text)
		}
		out |= s
	}
	return out, nil
}

// part reads one element of a list: 5, mon, 1-5, 10/15, */5, 22-2/2.
func (r field) part(text string) (set, error) {
	span, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		if err != nil || n < 1 || n > 1<<20 {
			return 0, ErrLine
		}
		step = n
	}
	low, high := r.low, r.high
	if r.high == 7 {
		high = 6 // Sunday once
	}
	from, to, ranged := strings.Cut(span, "-")
	switch {
	case span == "*" || span == "?" && (r.high == 31 || r.high == 7):
	case ranged:
		var err1, err2 error
		low, err1 = r.number(from)
		high, err2 = r.number(to)
		if err1 != nil || err2 != nil {
			return 0, ErrLine
		}
	default:
		n, err := r.number(span)
		if err != nil {
			return 0, err
		}
		if low = n; !stepped {
			high = n
		}
	}
	return r.span(low, high, step), nil
}

// span is every step-th number from low to high; past the end it goes on at the beginning.
func (r field) span(low, high, step int) (out set) {
	if low <= high {
		for n := low; n <= high; n += step {
			out |= 1 << n
		}
		return out
	}
	size := r.high - r.low + 1
	if r.high == 7 {
		size = 7
	}
	for n := low; n <= high+size; n += step {
		out |= 1 << (r.low + (n-r.low)%size)
	}
	return out
}

// number reads a number or a name.
func (r field) number(text string) (int, error) {
	if i := slices.Index(r.names, text); i >= 0 {
		return r.low + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < r.low || n > r.high || text[0] == '+' || text[0] == '-' {
		return 0, ErrLine
	}
	return n, nil
}
