package edit

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/python"
	"brine/wire/python/re"
)

// psedFlags are the letters that file.psed knows beside g.
var psedFlags = map[rune]int64{'I': ignoreCase, 'L': 4, 'M': multiLine, 'S': dotAll, 'U': unicode, 'X': verbose}

// Psed replaces what a pattern fits in the whole text: the first place, or all with the flag g. The backup is always
// made.
func Psed(name, before, after, flags, backup string) (*Change, error) {
	count, bits := int64(1), int64(0)
	for _, letter := range flags {
		bit, ok := psedFlags[letter]
		switch {
		case letter == 'g':
			count = 0
		case !ok:
			return nil, loader.Raise("KeyError", "%s", python.Repr(string(letter)))
		case letter == 'L':
			return nil, loader.Raise("ValueError", "cannot use LOCALE flag with a str pattern")
		}
		bits |= bit
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	if backup == "" {
		return nil, loader.Raise("shutil.SameFileError", "%s and %s are the same file", python.Repr(name), python.Repr(name))
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	e, err := re.CompileEdit(before, letters(bits))
	if err != nil {
		return nil, patternError(err)
	}
	template, err := e.Template(after)
	if err != nil {
		return nil, patternError(err)
	}
	data, _, err := e.Sub(text, template, count)
	if err != nil {
		return nil, patternError(err)
	}
	c := f.change(data, python.Lines(text, true), python.Lines(data, true))
	c.backup, c.keepNames = c.Path+backup, true
	return c, nil
}

// SedEscaped is a text with quotes and slashes as the shell and sed want them; all says that of other characters, too.
func SedEscaped(text string, all bool) string {
	text = strings.NewReplacer("'", `'"'"'`, "/", `\/`).Replace(text)
	if all {
		for _, c := range "^.[$()|*+?{" {
			text = strings.ReplaceAll(text, string(c), `\`+string(c))
		}
	}
	return text
}
