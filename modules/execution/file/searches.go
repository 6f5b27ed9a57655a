package file

import (
	"os"
	"strings"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// searches are the functions that tell whether something is in a file.
func searches() []loader.Func {
	return []loader.Func{
		loader.Fn("contains", contains, "Tell whether a text is in a file.",
			"file.contains /etc/crontab 'mymaintenance.sh'"),
		loader.Fn("contains_regex", containsRegex, "Tell whether a regular expression fits somewhere in a line of a "+
			"file.",
			"file.contains_regex /etc/crontab '^maint'"),
		loader.Fn("contains_glob", containsGlob, "Tell whether a pattern of the shell fits the whole of a file.",
			"file.contains_glob /etc/foobar '*cheese*'"),
		loader.Fn("sed_contains", sedContains, "Tell whether sed finds a text in a file.",
			"file.contains /etc/crontab 'mymaintenance.sh'"),
		loader.Fn("search", searchFile, "Tell whether a regular expression fits somewhere in a file.",
			"file.search /etc/crontab 'mymaintenance.sh'"),
	}
}

// withText is a file and a text that may be in it.
type withText struct {
	location
	Text any `arg:"text"`
}

func contains(c *loader.Call, a withText) (any, error) {
	wanted := strings.TrimSpace(python.Str(a.Text))
	return search(c, a.Path, func(text string) (bool, error) {
		return text != "" && strings.Contains(text, wanted), nil
	})
}

// withGlob is a file and a pattern of the shell.
type withGlob struct {
	location
	Glob any `arg:"glob_expr"`
}

func containsGlob(c *loader.Call, a withGlob) (any, error) {
	glob, err := raw(a.Glob)
	if err != nil {
		return nil, err
	}
	return search(c, a.Path, func(text string) (bool, error) {
		return inWindows(text, fnmatch.Compile(glob).Match), nil
	})
}

// A file is compared with a glob in windows of this size, which move on by steps (salt/utils/filebuffer.py). In
// characters.
const (
	window = 256 << 10
	step   = 32 << 10
)

func inWindows(text string, fits func(string) bool) bool {
	if len(text) <= window {
		return text != "" && fits(text)
	}
	runes := []rune(text)
	for at := 0; ; at += step {
		end := min(at+window, len(runes))
		if fits(string(runes[at:end])) {
			return true
		}
		if end == len(runes) {
			return false
		}
	}
}

// withRegex is a file, a regular expression and characters that are taken off the left of each line.
type withRegex struct {
	location
	Regex any `arg:"regex"`
	Strip any `arg:"lchar=''"`
}

func containsRegex(c *loader.Call, a withRegex) (any, error) {
	strip := python.Str(a.Strip)
	re, reErr := regexpOf(a.Regex)
	return search(c, a.Path, func(text string) (bool, error) {
		for text != "" {
			end := lineEnd(text)
			line := text[:end]
			text = text[end:]
			if reErr != nil {
				return false, reErr
			}
			if python.Truth(a.Strip) {
				line = strings.TrimLeft(line, strip)
			}
			if fits, err := re.Match(line); fits || err != nil {
				return fits, err
			}
		}
		return false, nil
	})
}

// lineEnd is where the first line of a text ends: behind \n, \r or both.
func lineEnd(text string) int {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return len(text)
	case strings.HasPrefix(text[i:], "\r\n"):
		return i + 2
	}
	return i + 1
}

// sedSearch is a file, and a text with what sed is told of it.
type sedSearch struct {
	withText
	Limit any `arg:"limit=''"`
	Flags any `arg:"flags=g"`
}

// sedContains asks sed as the reference does.
func sedContains(c *loader.Call, a sedSearch) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return false, nil
	}
	quote := strings.NewReplacer("'", `'"'"'`, "/", `\/`).Replace
	limit := quote(python.Str(a.Limit))
	if limit != "" {
		limit = "/" + limit + "/ "
	}
	script := limit + "s/" + quote(python.Str(a.Text)) + "/$/p" + python.Str(a.Flags)
	out, err := c.Call("cmd.run", []any{[]any{"sed", "-n", "-r", "-e", script, name}}, payload.M("python_shell", false))
	return python.Truth(out), err
}

// searched is a file and a regular expression with its flags.
type searched struct {
	location
	Pattern       any  `arg:"pattern"`
	Flags         any  `arg:"flags=8"`
	BufSize       any  `arg:"bufsize=1"` // how a file is read is no matter
	IgnoreMissing bool `arg:"ignore_if_missing=False"`
	MultiLine     bool `arg:"multiline=False"`
}

// searchFile looks at bytes, as the reference does: a class of characters has those of ASCII.
func searchFile(c *loader.Call, a searched) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	return edit.Search(name, a.Pattern, a.Flags, a.MultiLine, a.IgnoreMissing)
}
