// Package pep440 knows versions of Python packages: their order, what a list of specifiers allows, and how a
// requirement
// is written. It answers to packaging.version, packaging.specifiers and packaging.requirements.
package pep440

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"brine/modules/text/pattern"
)

// Version is a version of a package.
type Version struct {
	text    string
	epoch   int
	release []int
	pre     [2]int // which of a, b, rc (0 to 2), and its number; see key
	post    int    // -1: none
	dev     int    // MaxInt: none
	local   string
	isPre   bool // alpha, beta or candidate
}

var form = pattern.New(`(?i)^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d*))?` +
	`(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`)

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// Parse reads a version.
func Parse(text string) (v Version, ok bool) {
	m := form.FindStringSubmatch(text)
	if m == nil {
		return v, false
	}
	v = Version{text: strings.TrimSpace(text), epoch: number(m[1]), post: -1, dev: math.MaxInt,
		local: strings.ToLower(m[10])}
	for part := range strings.SplitSeq(m[2], ".") {
		v.release = append(v.release, number(part))
	}
	v.pre = [2]int{3, 0}
	if m[3] != "" {
		v.isPre = true
		kind := map[byte]int{'a': 0, 'b': 1, 'c': 2, 'r': 2, 'p': 2}[strings.ToLower(m[3])[0]]
		v.pre = [2]int{kind, number(m[4])}
	}
	switch {
	case m[5] != "":
		v.post = number(m[5])
	case m[6] != "":
		v.post = number(m[7])
	}
	if m[8] != "" {
		v.dev = number(m[9])
		if !v.isPre && v.post < 0 {
			v.pre = [2]int{-1, 0} // 1.0.dev1 is before 1.0a1
		}
	}
	return v, true
}

// Prerelease tells whether a version is one before a release.
func (v Version) Prerelease() bool { return v.isPre || v.dev != math.MaxInt }

// trimmed is a release without zeros at its end.
func trimmed(release []int) []int {
	for len(release) > 0 && release[len(release)-1] == 0 {
		release = release[:len(release)-1]
	}
	return release
}

// public compares without what a distributor has added.
func (v Version) public(other Version) int {
	return cmp.Or(cmp.Compare(v.epoch, other.epoch), slices.Compare(trimmed(v.release), trimmed(other.release)),
		slices.Compare(v.pre[:], other.pre[:]), cmp.Compare(v.post, other.post), cmp.Compare(v.dev, other.dev))
}

// Compare is below, at or above zero as v is before, the same as or after other.
func (v Version) Compare(other Version) int {
	return cmp.Or(v.public(other), compareLocal(v.local, other.local))
}

func compareLocal(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b))
	}
	split := func(s string) []string {
		return strings.FieldsFunc(s,
			func(r rune) bool { return strings.ContainsRune("-_.", r) })
	}
	return slices.CompareFunc(split(a), split(b), func(x, y string) int {
		n, errN := strconv.Atoi(x)
		m, errM := strconv.Atoi(y)
		switch {
		case errN == nil && errM == nil:
			return cmp.Compare(n, m)
		case errN == nil:
			return 1
		case errM == nil:
			return -1
		}
		return cmp.Compare(x, y)
	})
}

// Compare compares two texts; ok is false where one is no version.
func Compare(a, b string) (order int, ok bool) {
	v, okV := Parse(a)
	w, okW := Parse(b)
	if !okV || !okW {
		return 0, false
	}
	return v.Compare(w), true
}

// Specifier is one condition: an operator and a version.
type Specifier struct{ Op, Version string }

// Allows tells whether a version fulfils all specifiers. A version before a release needs one that names such.
func Allows(specs []Specifier, version string) bool {
	v, ok := Parse(version)
	if !ok {
		return false
	}
	named := len(specs) == 0
	for _, s := range specs {
		if !s.allows(v) {
			return false
		}
		w, ok := Parse(s.Version)
		named = named || ok && w.Prerelease() && s.Op != "!="
	}
	return named || !v.Prerelease()
}

func (s Specifier) allows(v Version) bool {
	prefix, isPrefix := strings.CutSuffix(s.Version, ".*")
	w, ok := Parse(prefix)
	if s.Op == "===" {
		return strings.EqualFold(v.text, s.Version)
	}
	if !ok {
		return false
	}
	order := v.public(w)
	switch s.Op {
	case "==", "!=":
		equal := order == 0 && (w.local == "" || w.local == v.local)
		if isPrefix {
			equal = v.startsWith(w)
		}
		return equal == (s.Op == "==")
	case "<=":
		return order <= 0
	case ">=":
		return order >= 0
	case "<": // not the versions before w itself
		return order < 0 && (w.Prerelease() || !v.Prerelease() || slices.Compare(trimmed(v.release),
			trimmed(w.release)) != 0)
	case ">":
		return order > 0 && (w.post >= 0 || v.post < 0 || slices.Compare(trimmed(v.release), trimmed(w.release)) != 0)
	case "~=":
		head := w
		head.release = w.release[:max(len(w.release)-1, 1)]
		return order >= 0 && v.startsWith(head)
	}
	return false
}

// startsWith tells whether the release begins with that of another version.
func (v Version) startsWith(w Version) bool {
	release := slices.Clone(v.release)
	for len(release) < len(w.release) {
		release = append(release, 0)
	}
	return v.epoch == w.epoch && slices.Equal(release[:len(w.release)], w.release)
}

// Requirement is a package with what is wanted of it.
type Requirement struct {
	Name  string
	Specs []Specifier
}

var (
	requirement = pattern.New(`(?s)^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*` +
		`(.*?)\s*(?:;.*)?$`)
	specifier = pattern.New(`^\s*(===|~=|==|!=|<=|>=|<|>)\s*([^\s,;()]+)\s*$`)
)

// ParseRequirement reads "name[extra]>=1,<2; marker" and "name @ url".
func ParseRequirement(text string) (r Requirement, ok bool) {
	m := requirement.FindStringSubmatch(text)
	if m == nil {
		return r, false
	}
	r.Name = m[1]
	rest := strings.TrimSuffix(strings.TrimPrefix(m[2], "("), ")")
	if rest == "" || strings.HasPrefix(rest, "@") {
		return r, true
	}
	for part := range strings.SplitSeq(rest, ",") {
		s := specifier.FindStringSubmatch(part)
		if s == nil {
			return r, false
		}
		if _, ok := Parse(strings.TrimSuffix(s[2], ".*")); !ok && s[1] != "===" {
			return r, false
		}
		r.Specs = append(r.Specs, Specifier{s[1], s[2]})
	}
	return r, true
}

var separators = pattern.New(`[-_.]+`)

// Normalize is the name of a package as indexes compare it.
func Normalize(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }
