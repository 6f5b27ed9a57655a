// Package aptsources reads and writes the lists of repositories of apt: sources.list with a repository a line, and
// files of deb822 with a section for each. Comments, and lines that are no repository, stay where they are. It fetches
// no lists of packages (see modules/execution/aptpkg). It answers to salt/utils/pkg/deb.py.
package aptsources

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/text/pattern"
)

// Main is the list where a repository goes that is to be in no other file, and Parts the directory of the others.
const (
	Main  = "/etc/apt/sources.list"
	Parts = "/etc/apt/sources.list.d/"
)

// Entry is a repository of a list, or a line that is none. Of a section (deb822) its fields come from there.
type Entry struct {
	File          string
	Section       *Section // nil: it is a line
	Line          string   // as it was read
	Invalid       bool     // it is no repository
	Disabled      bool
	Type, Dist    string
	URI           string
	Comps         []string
	Architectures []string
	SignedBy      string
	Trusted       *bool // nil: nothing is said
	Comment       string
}

// Bool reads a truth value as apt does.
func Bool(text string) (v, known bool) {
	switch strings.ToLower(text) {
	case "no", "false", "without", "off", "disable", "0":
		return false, true
	case "yes", "true", "with", "on", "enable", "1":
		return true, true
	}
	return false, false
}

// Parse reads a line. A repository that lacks parts is an error.
func Parse(line, file string) (*Entry, error) {
	e := &Entry{File: file, Line: line}
	pieces := e.look()
	if e.Invalid {
		return e, nil
	}
	if strings.HasPrefix(pieces[1], "[") {
		pieces = e.readOptions(pieces)
	}
	if len(pieces) < 3 {
		return e, fmt.Errorf("Invalid repository definition: %s", strings.Join(pieces, " ")) //nolint: Salt's text
	}
	e.Type, e.URI, e.Dist, e.Comps = pieces[0], pieces[1], pieces[2], slices.Clone(pieces[3:])
	return e, nil
}

// readOptions reads what stands in brackets, and gives the other pieces.
func (e *Entry) readOptions(pieces []string) []string {
	var rest []string
	for _, piece := range pieces {
		if piece = strings.Trim(piece, "[]"); piece != "" {
			rest = append(rest, piece)
		}
	}
	for _, o := range optionsOf(e.Line) {
		switch o.name {
		case "arch":
			e.Architectures = append(e.Architectures, strings.Split(o.value, ",")...)
		case "signed-by":
			e.SignedBy = o.value
		case "trusted":
			if v, known := Bool(o.value); known {
				e.Trusted = &v
			}
		}
		if i := slices.Index(rest, o.full); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest
}

var cdrom = pattern.New(`^(.*)(cdrom:.*/)(.*)`)

// look tells what a line is, and cuts it into pieces.
func (e *Entry) look() []string {
	line := strings.TrimSpace(e.Line)
	if line == "" {
		e.Invalid = true
		return nil
	}
	if rest, off := strings.CutPrefix(line, "#"); off {
		line, e.Disabled = rest, true
	}
	if i := strings.Index(line, "#"); i > 0 {
		line, e.Comment = line[:i], line[i+1:]
	}
	pieces := strings.Fields(line)
	if m := cdrom.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		pieces = slices.Concat(strings.Fields(m[1]), []string{strings.TrimSpace(m[2])}, strings.Fields(m[3]))
	}
	known := len(pieces) >= 3 && slices.Contains([]string{"deb", "deb-src", "rpm", "rpm-src"}, pieces[0])
	closes := func(p string) bool { return strings.HasSuffix(p, "]") }
	e.Invalid = !known || strings.HasPrefix(pieces[1], "[") && !slices.ContainsFunc(pieces[1:], closes)
	return pieces
}

// option is one of the words in the brackets of a line.
type option struct{ name, value, full string }

var bracket = pattern.New(`\[(.*?=.*?)\]`)

func optionsOf(line string) (out []option) {
	set := func(o option) {
		if i := slices.IndexFunc(out, func(x option) bool { return x.name == o.name }); i >= 0 {
			out[i] = o
			return
		}
		out = append(out, o)
	}
	m := bracket.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	for _, full := range strings.Fields(strings.Trim(m[0], "[]")) {
		name, value, _ := strings.Cut(full, "=")
		switch {
		case strings.HasPrefix(full, "arch"):
			name = "arch"
		case strings.HasPrefix(full, "signed-by"):
			name = "signed-by"
		}
		set(option{name, value, full})
	}
	return out
}

// String is the entry as it stands in a file, without the newline at its end.
func (e *Entry) String() string {
	if e.Section != nil {
		return strings.TrimSpace(e.Section.String())
	}
	return strings.TrimSpace(e.text())
}

// text is the line of a repository.
func (e *Entry) text() string {
	if e.Invalid {
		return e.Line
	}
	var words []string
	if e.Disabled {
		words = append(words, "#")
	}
	words = append(words, e.Type)
	if options := e.optionWords(); len(options) > 0 {
		words = append(words, "["+strings.Join(options, " ")+"]")
	}
	words = append(words, e.URI, e.Dist, strings.Join(e.Comps, " "))
	if e.Comment != "" {
		words = append(words, "#"+e.Comment)
	}
	return strings.Join(words, " ") + "\n"
}

// optionWords are the words in brackets: those of the line, as they are now.
func (e *Entry) optionWords() (out []string) {
	now := map[string]string{}
	if len(e.Architectures) > 0 {
		now["arch"] = "arch=" + strings.Join(e.Architectures, ",")
	}
	if e.SignedBy != "" {
		now["signed-by"] = "signed-by=" + e.SignedBy
	}
	if e.Trusted != nil && *e.Trusted {
		now["trusted"] = "trusted=yes"
	}
	for _, o := range optionsOf(e.Line) {
		if full, ok := now[o.name]; ok {
			o.full = full
			delete(now, o.name)
		} else if o.name == "trusted" && o.value == "no" {
			continue
		}
		out = append(out, o.full)
	}
	for _, name := range []string{"arch", "signed-by", "trusted"} {
		if full, ok := now[name]; ok {
			out = append(out, full)
		}
	}
	return out
}

// Settle makes the entry's line what it says now.
func (e *Entry) Settle() { e.Line = e.text() }
