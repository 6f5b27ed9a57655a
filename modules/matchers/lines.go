package matchers

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/wire/payload"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// ErrSlow means that a line took too long for a word, so that nobody knows whether it means that word.
var ErrSlow = errors.New("matchers: a line takes too long")

const (
	maxLines = 1024 // compiled lines that are kept
	// restShare is how many times as long as it took a line that took too long is left alone: words of strangers take a
	// twentieth of a core with it, and not the whole.
	restShare = 20
)

// Lines compares words with the lines of files such as autosign_file: a line is the word itself, a glob, or a regular
// expression over the whole word; empty ones and those that begin with # mean nobody (salt/utils/stringutils.py,
// expr_match). Compiled lines are kept, for a file of many is read at every sign-in of a storm. It is safe for
// concurrent use.
type Lines struct {
	// Slow is told of a line that takes too long, the first time; nil: nobody is.
	Slow func(line string)
	Now  func() time.Time // nil: time.Now

	mu    sync.Mutex
	lines map[string]*line
}

// line is one compiled line.
type line struct {
	glob *fnmatch.Pattern
	expr *re.Pattern // nil: it is no regular expression

	mu   sync.Mutex
	told bool
	rest time.Time // until then it is left alone
}

// Any tells whether one of some lines means a word. With ErrSlow none was found, but one of those that took too long
// may. However many lines there are, it waits for one that takes too long, and asks no further that might.
func (l *Lines) Any(lines []string, word string) (bool, error) {
	unsure, waited := "", false
	for _, text := range lines {
		if text == "" || text[0] == '#' {
			continue
		}
		what := l.match(text, word, waited)
		if what == means {
			return true, nil
		}
		if what != meansNot && unsure == "" {
			unsure = text
		}
		waited = waited || what == tookLong
	}
	if unsure != "" {
		return false, fmt.Errorf("%w: %s", ErrSlow, payload.Show(unsure))
	}
	return false, nil
}

// answer is what a line says of a word.
type answer int

const (
	meansNot answer = iota
	means
	tookLong // nobody knows: it took too long just now
	rests    // nobody knows: it was not asked
)

func answerOf(hit bool) answer {
	if hit {
		return means
	}
	return meansNot
}

// match compares a word with one line; with hasty it asks no engine that may take long.
func (l *Lines) match(text, word string, hasty bool) answer {
	switch {
	case text == word:
		return means
	case len(word) > payload.MaxID:
		return meansNot
	case !strings.ContainsAny(text, `*?[]+\(){}|^$`):
		return answerOf(matchDots(text, word))
	}
	one := l.compiled(text)
	switch {
	case one.glob.Match(word):
		return means
	case one.expr == nil:
		return meansNot
	case one.expr.IsFast(word):
		hit, _ := one.expr.Match(word) // which gives no error then
		return answerOf(hit)
	case hasty:
		return rests
	}
	what, first := one.ask(word, l.now)
	if first && l.Slow != nil {
		l.Slow(text)
	}
	return what
}

// ask compares a word with the expression, a word at a time, so that only one takes long with it, and leaves a line
// alone that has to rest. first tells that it took too long for the first time.
func (o *line) ask(word string, clock func() time.Time) (what answer, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	began := clock()
	if began.Before(o.rest) {
		return rests, false
	}
	hit, err := o.expr.Match(word)
	if err == nil {
		return answerOf(hit), false
	}
	now := clock()
	o.rest = now.Add(restShare * max(now.Sub(began), re.Timeout))
	first, o.told = !o.told, true
	return tookLong, first
}

func (l *Lines) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

func (l *Lines) compiled(text string) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.lines[text]; ok {
		return one
	}
	if l.lines == nil || len(l.lines) >= maxLines {
		l.lines = map[string]*line{}
	}
	one := &line{glob: fnmatch.Compile(text)}
	if expr, err := re.CompileWhole(text); err == nil { // what is none means nobody as one, as in Salt
		one.expr = expr
	}
	l.lines[text] = one
	return one
}

// matchDots compares a word with a line whose only special character is the dot of regular expressions.
func matchDots(text, word string) bool {
	runes := []rune(word)
	i := 0
	for _, c := range text {
		if i >= len(runes) || (c != runes[i] && (c != '.' || runes[i] == '\n')) {
			return false
		}
		i++
	}
	return i == len(runes)
}
