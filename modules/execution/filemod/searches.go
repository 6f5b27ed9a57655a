package filemod

import (
	"os"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// searches are the functions that tell whether something is in a file.
func searches() []loader.Func {
	return []loader.Func{
		{Name: "file.contains", Params: []loader.Param{loader.Req("path"), loader.Req("text")},
			Run: func(c *loader.Call, a loader.Args) (any, error) {
				wanted := strings.TrimSpace(pytext.Str(a.Get("text")))
				return search(c, a.Get("path"), func(text string) (bool, error) {
					return text != "" &&
						strings.Contains(text, wanted), nil
				})
			}, Doc: `Tell whether a text is in a file.

CLI Example:

    salt '*' file.contains /etc/crontab 'mymaintenance.sh'`},
		{Name: "file.contains_regex", Params: []loader.Param{loader.Req("path"), loader.Req("regex"),
			loader.Opt("lchar", "")}, Run: containsRegex,
			Doc: `Tell whether a regular expression fits somewhere in a line of a file.

CLI Example:

    salt '*' file.contains_regex /etc/crontab '^maint'`},
		{Name: "file.contains_glob", Params: []loader.Param{loader.Req("path"), loader.Req("glob_expr")},
			Run: func(c *loader.Call, a loader.Args) (any, error) {
				glob, err := raw(a.Get("glob_expr"))
				if err != nil {
					return nil, err
				}
				return search(c, a.Get("path"), func(text string) (bool, error) {
					return inWindows(text,
						matchers.CompileGlob(glob).Match), nil
				})
			}, Doc: `Tell whether a pattern of the shell fits the whole of a file.

CLI Example:

    salt '*' file.contains_glob /etc/foobar '*cheese*'`},
		{Name: "file.sed_contains", Params: []loader.Param{loader.Req("path"), loader.Req("text"),
			loader.Opt("limit", ""), loader.Opt("flags", "g")},
			Run: sedContains, Doc: `Tell whether sed finds a text in a file.

CLI Example:

    salt '*' file.contains /etc/crontab 'mymaintenance.sh'`},
		{Name: "file.search", Params: []loader.Param{loader.Req("path"), loader.Req("pattern"), loader.Opt("flags",
			int64(8)), loader.Opt("bufsize", int64(1)),
			loader.Opt("ignore_if_missing", false), loader.Opt("multiline", false)}, Run: searchFile,
			Doc: `Tell whether a regular expression fits somewhere in a file.

CLI Example:

    salt '*' file.search /etc/crontab 'mymaintenance.sh'`},
	}
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

func containsRegex(c *loader.Call, a loader.Args) (any, error) {
	strip := pytext.Str(a.Get("lchar"))
	re, reErr := regexpOf(a.Get("regex"))
	return search(c, a.Get("path"), func(text string) (bool, error) {
		for text != "" {
			end := lineEnd(text)
			line := text[:end]
			text = text[end:]
			if reErr != nil {
				return false, reErr
			}
			if loader.Truthy(a.Get("lchar")) {
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

// sedContains asks sed as the reference does.
func sedContains(c *loader.Call, a loader.Args) (any, error) {
	name, err := path(c, a.Get("path"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return false, nil
	}
	quote := strings.NewReplacer("'", `'"'"'`, "/", `\/`).Replace
	limit := quote(pytext.Str(a.Get("limit")))
	if limit != "" {
		limit = "/" + limit + "/ "
	}
	script := limit + "s/" + quote(pytext.Str(a.Get("text"))) + "/$/p" + pytext.Str(a.Get("flags"))
	out, err := c.Call("cmd.run", []any{[]any{"sed", "-n", "-r", "-e", script, name}}, payload.M("python_shell", false))
	return loader.Truthy(out), err
}

// searchFile looks at bytes, as the reference does: a class of characters has those of ASCII.
func searchFile(c *loader.Call, a loader.Args) (any, error) {
	a.Get("bufsize") // how a file is read is no matter
	letters, err := flagLetters(a.Get("flags"))
	if err != nil {
		return nil, err
	}
	if a.Bool("multiline") && !strings.Contains(letters, "m") {
		letters += "m"
	}
	name, err := path(c, a.Get("path"))
	if err != nil {
		return nil, err
	}
	name = pypath.Real(name)
	if _, err := os.Stat(name); err != nil {
		if a.Bool("ignore_if_missing") {
			return false, nil
		}
		return nil, loader.InvocErr("File not found: %s", name)
	}
	const block = 512 // by which text is told from what is none
	if begin, err := plainfile.Begin(name, block); err != nil || plainfile.Binary(begin) {
		return nil, loader.InvocErr("Cannot perform string replacements on a binary file: %s", name)
	}
	pattern, err := raw(a.Get("pattern"))
	if err != nil {
		return nil, err
	}
	re, err := matchers.CompileText(latin1([]byte(pattern)), "a"+letters)
	if err != nil {
		return nil, badPattern(err)
	}
	data, err := plainfile.Read(name, program.MaxOutput())
	if err != nil {
		return nil, err
	}
	return re.Search(latin1(data))
}

// latin1 has a character for each byte.
func latin1(data []byte) string {
	for _, c := range data {
		if c >= 0x80 {
			var b strings.Builder
			for _, c := range data {
				b.WriteRune(rune(c))
			}
			return b.String()
		}
	}
	return string(data)
}

// flagLetters are flags of Python's re in the letters of a pattern.
func flagLetters(v any) (string, error) {
	bits, err := flagBits(v)
	if err != nil {
		return "", err
	}
	const unicode = 32
	if bits&unicode != 0 {
		return "", loader.Raise("ValueError", "cannot use UNICODE flag with a bytes pattern")
	}
	letters := ""
	for _, f := range []struct {
		bit    int64
		letter string
	}{{2, "i"}, {8, "m"}, {16, "s"}, {64, "x"}} {
		if bits&f.bit != 0 {
			letters += f.letter
		}
	}
	return letters, nil
}

// flagBits reads a number, a name or a list of names.
func flagBits(v any) (int64, error) {
	var names []any
	switch x := v.(type) {
	case bool, int64:
		n, _ := whole(x)
		return n, nil
	case string:
		names = []any{x}
	case []any:
		names = x
	default:
		return 0,
			loader.ExecErr(`Invalid re flags: "%s", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`,
				pytext.Str(v))
	}
	known := map[string]int64{"A": 256, "ASCII": 256, "I": 2, "IGNORECASE": 2, "L": 4, "LOCALE": 4, "U": 32,
		"UNICODE": 32, "M": 8, "MULTILINE": 8,
		"S": 16, "DOTALL": 16, "X": 64, "VERBOSE": 64, "DEBUG": 128, "T": 1, "TEMPLATE": 1}
	bits := int64(0)
	for _, name := range names {
		bit, ok := known[strings.ToUpper(pytext.Str(name))]
		if !ok {
			return 0, loader.ExecErr("Invalid re flag given: %s", pytext.Str(name))
		}
		bits |= bit
	}
	return bits, nil
}
