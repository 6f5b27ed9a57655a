package file

import (
	"os"
	"strings"

	"brine/modules/execution/file/edit"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

type sedded struct {
	location
	Before    any    `arg:"before"`
	After     any    `arg:"after"`
	Limit     any    `arg:"limit=''"`
	Backup    any    `arg:"backup=.bak"`
	Options   string `arg:"options=-r -e"`
	Flags     any    `arg:"flags=g"`
	EscapeAll bool   `arg:"escape_all=False"`
	Negate    bool   `arg:"negate_match=False"`
}

func sed(c *loader.Call, a sedded) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return false, nil
	}
	words, err := shlex.Split(a.Options)
	if err != nil {
		return nil, loader.Raise("ValueError", "%s", err)
	}
	argv := []any{"sed", "-i"}
	if python.Truth(a.Backup) {
		argv[1] = "-i" + python.Str(a.Backup)
	}
	for _, word := range words {
		argv = append(argv, word)
	}
	limit := edit.SedEscaped(python.Str(a.Limit), a.EscapeAll)
	if limit != "" {
		limit = "/" + limit + "/ "
	}
	if a.Negate {
		limit += "!"
	}
	script := limit + "s/" + edit.SedEscaped(python.Str(a.Before), a.EscapeAll) + "/" +
		edit.SedEscaped(python.Str(a.After), a.EscapeAll) + "/" + python.Str(a.Flags)
	return c.Call("cmd.run_all", []any{append(argv, script, name)}, payload.M("python_shell", false))
}

type psedded struct {
	location
	Before    any    `arg:"before"`
	After     any    `arg:"after"`
	Limit     any    `arg:"limit=''"`
	Backup    string `arg:"backup=.bak"`
	Flags     string `arg:"flags=gMS"`
	EscapeAll bool   `arg:"escape_all=False"`
	Multi     bool   `arg:"multi=False"`
}

// psed refuses two arguments with which the reference fails, or loses all lines but the first.
func psed(c *loader.Call, a psedded) (any, error) {
	name, err := path(c, a.Path)
	switch {
	case err != nil:
		return nil, err
	case python.Truth(a.Limit):
		return nil, &loader.ArgumentError{Message: "must be str or None, not re.Pattern"}
	case a.Multi:
		return nil, loader.InvocErr("file.psed: multi is not supported: it would keep only the first line")
	}
	change, err := edit.Psed(name, edit.SedEscaped(python.Str(a.Before), a.EscapeAll), python.Str(a.After), a.Flags,
		a.Backup)
	if err != nil {
		return nil, err
	}
	return nil, change.Apply()
}

type patched struct {
	Original any  `arg:"originalfile"`
	Patch    any  `arg:"patchfile"`
	Options  any  `arg:"options=''"`
	Dry      bool `arg:"dry_run=False"`
}

func patch(c *loader.Call, a patched) (any, error) {
	file, err := raw(a.Original)
	if err != nil {
		return nil, err
	}
	found, err := c.Call("cmd.which", []any{"patch"}, nil)
	if err != nil {
		return nil, err
	}
	if !python.Truth(found) {
		return nil, loader.ExecErr("patch executable not found. Is the distribution's patch package installed?")
	}
	words, err := optionWords(a.Options)
	if err != nil {
		return nil, err
	}
	if a.Dry {
		words = append(words, "--dry-run")
	}
	if !has(words, "-N") && !has(words, "--forward") {
		words = append(words, "--forward")
	}
	if !begins(words, "-r ", "--reject-file") && !has(words, "-r") {
		words = append(words, "--reject-file=-")
	}
	words = append(words, "-i", python.Str(a.Patch))
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		words = append(words, "-d", file)
		if !begins(words, "-p", "--strip=") {
			words = append(words, "--strip=0")
		}
	} else {
		words = append(words, file)
	}
	argv := []any{found}
	for _, word := range words {
		argv = append(argv, word)
	}
	return c.Call("cmd.run_all", []any{argv}, payload.M("python_shell", false))
}

// optionWords are options as words of a command line: a text is cut into them.
func optionWords(v any) ([]string, error) {
	if list, ok := v.([]any); ok {
		return payload.Texts(list), nil
	}
	words, err := shlex.Split(python.Str(v))
	if err != nil {
		return nil, loader.Raise("ValueError", "%s", err)
	}
	return words, nil
}

func has(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

func begins(words []string, prefixes ...string) bool {
	for _, w := range words {
		for _, prefix := range prefixes {
			if strings.HasPrefix(w, prefix) {
				return true
			}
		}
	}
	return false
}

type (
	sought struct {
		location
		Data   any `arg:"data"`
		Offset any `arg:"offset"`
	}
	cutOff struct {
		location
		Length any `arg:"length"`
	}
)

func seekWrite(c *loader.Call, a sought) (any, error) {
	data, ok := a.Data.([]byte)
	if text, isText := a.Data.(string); isText {
		data, ok = []byte(text), true // Unlike Salt: a text is written, too
	}
	if !ok {
		return nil, &loader.ArgumentError{Message: "a bytes-like object is required, not '" + python.Type(a.Data) + "'"}
	}
	offset, err := loader.ToInt(a.Offset)
	if err != nil {
		return nil, err
	}
	var n int
	err = a.in(c, func(f *os.File) (err error) {
		if n, err = f.WriteAt(data, offset); err == nil {
			err = f.Sync()
		}
		return err
	})
	return int64(n), err
}

func truncate(c *loader.Call, a cutOff) (any, error) {
	length, err := loader.ToInt(a.Length)
	if err != nil {
		return nil, err
	}
	return nil, sought{location: a.location}.in(c, func(f *os.File) error { return f.Truncate(length) })
}

// in opens the file to write.
func (a sought) in(c *loader.Call, do func(f *os.File) error) error {
	name, err := path(c, a.Path)
	if err != nil {
		return err
	}
	f, err := safefile.OpenToWrite(name)
	if err != nil {
		return err
	}
	if err := do(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
