package aptsources

import (
	"slices"
	"strings"

	"brine/modules/text/pattern"
)

// Section is a section of deb822: fields in their order, with comments before and after them.
type Section struct {
	names  []string // as they are written
	values map[string]string
	Header []string
	footer []string
}

var field = pattern.New(`^(\S+):\s*(\S.*|)`)

// NewSection reads a section.
func NewSection(text string) *Section {
	s := &Section{values: map[string]string{}}
	name, value := "", ""
	keep := func() {
		if name != "" {
			s.put(name, strings.TrimSpace(value))
		}
	}
	data := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") {
			if data {
				s.footer = append(s.footer, line)
			} else {
				s.Header = append(s.Header, line)
			}
			continue
		}
		data = true
		if m := field.FindStringSubmatch(line); m != nil {
			keep()
			name, value = m[1], m[2]
		} else {
			value += "\n" + line
		}
	}
	keep()
	return s
}

// put sets a field under the name that is given.
func (s *Section) put(name, value string) {
	if !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
	s.values[name] = value
}

// written is the name of a field as the section writes it.
func (s *Section) written(name string) string {
	for _, known := range s.names {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return name
}

// Get is a field.
func (s *Section) Get(name string) (string, bool) {
	v, ok := s.values[s.written(name)]
	return v, ok
}

// Set sets a field. Unlike Salt: under the name that the section has for it, so that there are never two.
func (s *Section) Set(name, value string) { s.put(s.written(name), value) }

// Delete takes a field away.
func (s *Section) Delete(name string) {
	name = s.written(name)
	delete(s.values, name)
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
}

// String is the section as it stands in a file.
func (s *Section) String() string {
	var b strings.Builder
	for _, line := range s.Header {
		b.WriteString(line + "\n")
	}
	for _, name := range s.names {
		if v := s.values[name]; v != "" {
			b.WriteString(name + ": " + v + "\n")
		}
	}
	for _, line := range s.footer {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// entry is a section as a repository.
func (s *Section) entry(file string) *Entry {
	e := &Entry{File: file, Section: s, Line: s.String(), Invalid: len(s.names) == 0}
	e.read()
	return e
}

// NewDeb822 is an empty section that is to stand in a file.
func NewDeb822(file string) *Entry { return NewSection("").entry(file) }

// read takes the fields from the section.
func (e *Entry) read() {
	s := e.Section
	text := func(name string) string { v, _ := s.Get(name); return v }
	e.Type, e.URI, e.Dist, e.SignedBy = text("Types"), text("URIs"), text("Suites"), text("Signed-By")
	e.Comps, e.Architectures = strings.Fields(text("Components")), strings.Fields(text("Architectures"))
	enabled, known := Bool(text("Enabled"))
	e.Disabled = known && !enabled
	e.Trusted = nil
	if v, known := Bool(text("Trusted")); known {
		e.Trusted = &v
	}
	e.Invalid = len(s.names) == 0
}

// SetField sets a field of a section.
func (e *Entry) SetField(name, value string) {
	e.Section.Set(name, value)
	e.read()
}

// SetTrusted says whether what the repository has is trusted without a signature.
func (e *Entry) SetTrusted(v bool) {
	if e.Section == nil {
		e.Trusted = &v
		return
	}
	e.SetField("Trusted", map[bool]string{true: "yes", false: "no"}[v])
}

// SetDisabled disables or enables a repository.
func (e *Entry) SetDisabled(v bool) {
	switch {
	case e.Section == nil:
		e.Disabled = v
	case v:
		e.SetField("Enabled", "no")
	default:
		e.Section.Delete("Enabled")
		e.read()
	}
}

// Types are the types of packages that the repository is asked for.
func (e *Entry) Types() []string { return e.several(e.Type) }

// URIs are where the repository is.
func (e *Entry) URIs() []string { return e.several(e.URI) }

// Suites are its distributions.
func (e *Entry) Suites() []string {
	if e.Section == nil && e.Dist == "" {
		return nil
	}
	return e.several(e.Dist)
}

func (e *Entry) several(text string) []string {
	if e.Section != nil {
		return strings.Fields(text)
	}
	return []string{text}
}

// SetSuites sets the distributions; a line has one at most.
func (e *Entry) SetSuites(suites []string) {
	if e.Section != nil {
		e.SetField("Suites", strings.Join(suites, " "))
		return
	}
	e.Dist = strings.Join(suites, " ")
}

// SetComps sets the components.
func (e *Entry) SetComps(comps []string) {
	if e.Section != nil {
		e.SetField("Components", strings.Join(comps, " "))
		return
	}
	e.Comps = comps
}

// SetArchitectures sets the architectures.
func (e *Entry) SetArchitectures(list []string) {
	if e.Section != nil {
		e.SetField("Architectures", strings.Join(list, " "))
		return
	}
	e.Architectures = list
}

// SetComment sets the comment.
func (e *Entry) SetComment(text string) {
	if e.Section == nil {
		e.Comment = text
		return
	}
	e.Section.Header = nil
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "#") {
			line = "#" + line
		}
		e.Section.Header = append(e.Section.Header, line)
	}
}
