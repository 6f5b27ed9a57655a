// Package pattern holds regular expressions that are compiled at their first use. A package variable made by
// regexp.MustCompile is paid for by every start of every tool, and brine has many tools in one file. For the syntax of
// Python's expressions see wire/python/re.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression of Go's syntax. It is safe for concurrent use.
type Pattern struct {
	compile func() *regexp.Regexp
}

// New makes a Pattern. An expression that is none shows itself at the first use.
func New(expr string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString is that of regexp.
func (p Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// FindString is that of regexp.
func (p Pattern) FindString(s string) string { return p.compile().FindString(s) }

// FindStringSubmatch is that of regexp.
func (p Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }

// FindAllString is that of regexp.
func (p Pattern) FindAllString(s string, n int) []string { return p.compile().FindAllString(s, n) }

// ReplaceAllString is that of regexp.
func (p Pattern) ReplaceAllString(s, repl string) string {
	return p.compile().ReplaceAllString(s, repl)
}

// FindAllStringSubmatch is that of regexp.
func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compile().FindAllStringSubmatch(s, n)
}

// Split is that of regexp.
func (p Pattern) Split(s string, n int) []string { return p.compile().Split(s, n) }
