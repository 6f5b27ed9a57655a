package localemod

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/conffile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// parts are those of language[_territory][.codeset][@modifier] [charmap].
type parts struct{ language, territory, codeset, modifier, charmap string }

func split(locale string) (p parts) {
	locale, p.charmap, _ = strings.Cut(locale, " ")
	locale, p.modifier, _ = strings.Cut(locale, "@")
	locale, p.codeset, _ = strings.Cut(locale, ".")
	p.language, p.territory, _ = strings.Cut(locale, "_")
	return p
}

func (p parts) String() string {
	text := p.language
	for _, more := range [][2]string{{"_", p.territory}, {".", p.codeset}, {"@", p.modifier}, {" ", p.charmap}} {
		if more[1] != "" {
			text += more[0] + more[1]
		}
	}
	return text
}

// normal is how locale -a lists it.
func (p parts) normal() string {
	p.territory, p.charmap = strings.ToUpper(p.territory), ""
	p.codeset = strings.ReplaceAll(strings.ToLower(p.codeset), "-", "")
	return p.String()
}

// Files of locales.
const (
	supported = "/usr/share/i18n/SUPPORTED"
	sources   = "/usr/share/i18n/locales"
	ofSuse    = "/usr/share/locale"
	wanted    = "/etc/locale.gen"
	ofUbuntu  = "/var/lib/locales/supported.d"
)

// genLocale is without Solaris. Unlike Salt: a name is no pattern, and other lines of the list stay as they are.
func genLocale(c *loader.Call, a made) (any, error) {
	if err := checked(a.Locale); err != nil {
		return nil, err
	}
	ubuntu := grain(c, "os") == "Ubuntu"
	p := split(a.Locale)
	locale := a.Locale
	if p.charmap == "" && !ubuntu {
		p.charmap = p.codeset
		locale = p.String()
	}
	where, found, err := known(c, p, locale)
	if err != nil {
		return nil, err
	}
	if !found {
		c.Log(slog.LevelError, "The locale "+python.Repr(locale)+" is not in "+where)
		return false, nil
	}
	switch list := filepath.Join(ofUbuntu, p.language); {
	case exists(wanted):
		err = enlist(wanted, locale)
	case ubuntu:
		err = enlist(list, locale)
	}
	if err != nil {
		return nil, err
	}
	return generate(c, p, locale, python.Truth(a.KW.Value("verbose")))
}

// known tells whether the host can make a locale, and by which file or folder.
func known(c *loader.Call, p parts, locale string) (where string, found bool, err error) {
	if grain(c, "os") == "Debian" || grain(c, "os_family") == "Gentoo" {
		text, err := conffile.Read(supported)
		if err != nil {
			return supported, false, loader.ExecErr("%s cannot be read: %s", supported, loader.Message(err))
		}
		return supported, slices.Contains(strings.Split(string(text), "\n"), locale), nil
	}
	where = sources
	if grain(c, "os_family") == "Suse" {
		where = ofSuse
	}
	entries, err := os.ReadDir(where)
	if err != nil {
		return where, false, loader.ExecErr(`Locale "%s" is not available.`, locale)
	}
	return where, slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == p.language+"_"+p.territory
	}), nil
}

// enlist has a locale in a list of those that are wanted: in place of a comment, or at the end.
func enlist(file, locale string) error {
	text, err := conffile.Text(file)
	if err != nil {
		return err
	}
	lines, done := strings.SplitAfter(text, "\n"), false
	for i, line := range lines {
		name, commented := strings.CutPrefix(strings.TrimSpace(line), "#")
		if strings.TrimSpace(name) == locale {
			done = true
			if commented {
				lines[i] = locale + "\n"
			}
		}
	}
	if n := len(lines) - 1; !done {
		if lines[n] != "" {
			lines[n] += "\n"
		}
		lines = append(lines, locale+"\n")
	}
	if changed := strings.Join(lines, ""); changed != text {
		return conffile.Write(file, []byte(changed))
	}
	return nil
}

// generate runs the program that makes locales.
func generate(c *loader.Call, p parts, locale string, verbose bool) (any, error) {
	argv := []string{"locale-gen"}
	switch {
	case which(c, "locale-gen") != "" && grain(c, "os") == "Ubuntu":
		argv = append(argv, split(locale).normal())
	case which(c, "locale-gen") != "" && grain(c, "os_family") == "Gentoo":
		argv = append(argv, "--generate", locale)
	case which(c, "locale-gen") != "":
		argv = append(argv, locale)
	case which(c, "localedef") != "":
		name, told := p.language+"_"+p.territory, "--quiet"
		if verbose {
			told = "--verbose"
		}
		argv = []string{"localedef", "--force", "-i", name, "-f", p.codeset, name + "." + p.codeset, told}
	default:
		return nil, loader.ExecErr(`Command "locale-gen" or "localedef" was not found on this system.`)
	}
	if verbose {
		return c.Call("cmd.run_all", []any{payload.AnyList(argv)}, nil)
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	return err == nil && out.Code == 0, err
}

// valueIn is what a file of variables gives one.
func valueIn(file, variable string) (value string, found bool, err error) {
	text, err := conffile.Text(file)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, variable+"="); ok {
			return strings.ReplaceAll(strings.TrimRight(rest, "\r\n"), `"`, ""), true, err
		}
	}
	return "", false, err
}

// setIn gives a variable its value in a file, in its place or at the end.
func setIn(file, variable, value string) error {
	text, err := conffile.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines, done := strings.SplitAfter(string(text), "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, variable+"=") {
			done = true
			lines[i] = variable + "=" + value + line[len(strings.TrimRight(line, "\n")):]
		}
	}
	if n := len(lines) - 1; !done {
		if lines[n] != "" {
			lines[n] += "\n"
		}
		lines = append(lines, variable+"="+value+"\n")
	}
	return conffile.Write(file, []byte(strings.Join(lines, "")))
}
