package linux_sysctl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/conffile"
	"brine/modules/loader"
	"brine/wire/python"
)

// Setting is a parameter that is to have a value, now and in a file, and what was found of it.
type Setting struct {
	Name, Value, Config string
	Kept                bool   // the file has it
	KeptRight           bool   // with that value
	Current             string // what the program says of it

	text string // what the file is to be
	was  string
	made bool // there is a file already
}

// one makes one tab of each space within a value, as the kernel does.
func one(value string) string {
	var out strings.Builder
	inSpace := false
	for _, r := range value {
		space := python.IsSpace(r)
		if !space {
			out.WriteRune(r)
		} else if !inSpace {
			out.WriteByte('\t')
		}
		inSpace = space
	}
	return out.String()
}

// Look finds out about a parameter. config is a file, or nothing for that of the host.
func Look(c *loader.Call, name string, value, config any) (*Setting, error) {
	s := &Setting{Name: name, Value: python.Str(value), Config: loader.Text(config)}
	if config == nil {
		s.Config = DefaultConfig(c)
	}
	if err := checked(s.Name, s.Value); err != nil {
		return nil, err
	}
	text, err := conffile.Read(s.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = []byte("#\n# Kernel sysctl configuration\n#\n")
	case err != nil:
		return nil, loader.ExecErr("Could not read from file: %s", s.Config)
	default:
		s.made, s.was = true, string(text)
	}
	s.fill(string(text))
	s.Current, err = Get(c, s.Name)
	return s, err
}

// fill works out what the file is to be. The first line of the parameter says whether it is kept rightly.
func (s *Setting) fill(text string) {
	var out strings.Builder
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(name) != s.Name {
			out.WriteString(line)
			continue
		}
		if !s.Kept && one(strings.TrimSpace(value)) == one(s.Value) {
			s.KeptRight, s.Kept, s.text = true, true, text
			return
		}
		s.Kept = true
		out.WriteString(s.Name + " = " + s.Value + "\n")
	}
	if !s.Kept {
		if out.Len() > 0 && !strings.HasSuffix(text, "\n") {
			out.WriteByte('\n')
		}
		out.WriteString(s.Name + " = " + s.Value + "\n")
	}
	s.text = out.String()
}

// Right tells whether there is nothing to do.
func (s *Setting) Right() bool { return s.made && s.KeptRight && one(s.Current) == one(s.Value) }

// Persist writes the file and sets the parameter, and tells which of "Updated" and "Already set" it is.
func (s *Setting) Persist(c *loader.Call) (string, error) {
	if s.Right() {
		return "Already set", nil
	}
	if !s.made || s.text != s.was {
		if err := os.MkdirAll(filepath.Dir(s.Config), 0o755); err != nil {
			return "", loader.ExecErr("Could not write to file: %s", s.Config)
		}
		if err := conffile.Write(s.Config, []byte(s.text)); err != nil {
			return "", loader.ExecErr("Could not write to file: %s", s.Config)
		}
	}
	if _, err := assign(c, setting{named{s.Name}, s.Value}); err != nil {
		return "", err
	}
	return "Updated", nil
}
