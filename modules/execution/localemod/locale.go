// Package localemod is the execution module locale: the locale of the host, and which locales it has. Where systemd has
// started the host, localectl is asked; else the file of the distribution tells. It answers to
// salt/modules/localemod.py.
package localemod

import (
	"log/slog"
	"os"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/host/systemd"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module locale.
func Module() loader.Module {
	return loader.Module{File: "localemod", Name: "locale", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("list_avail", listAvail, "List the locales that the host has.", "locale.list_avail"),
			loader.Fn("get_locale", getLocale, "Show the locale of the host.", "locale.get_locale"),
			loader.Fn("set_locale", setLocale, "Set the locale of the host.", "locale.set_locale 'en_US.UTF-8'"),
			loader.Fn("avail", avail, "Tell whether the host has a locale.", "locale.avail 'en_US.UTF-8'"),
			loader.Fn("gen_locale", genLocale, "Make a locale, with verbose=True and show what the program said.",
				"locale.gen_locale en_US.UTF-8", "locale.gen_locale 'en_IE.UTF-8 UTF-8'"),
		}
	}}
}

type (
	named struct {
		Locale string `arg:"locale"`
	}
	made struct {
		named
		KW *payload.Map `arg:"**kwargs"`
	}
)

// which is the path of a program; "" where there is none.
func which(c *loader.Call, name string) string {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	return program.WhichOn(path, name)
}

func grain(c *loader.Call, name string) string {
	v, _ := c.Grain(name)
	return python.Str(v)
}

// major tells whether the release of the distribution, if it is of that family, is one of these.
func major(c *loader.Call, family string, fits func(release int64) bool) bool {
	v, _ := c.Grain("osmajorrelease")
	release, err := loader.ToInt(v)
	return grain(c, "os_family") == family && err == nil && fits(release)
}

func oldSuse(c *loader.Call) bool { return major(c, "Suse", func(n int64) bool { return n == 12 }) }

// listed runs locale -a.
func listAvail(c *loader.Call, _ struct{}) ([]any, error) {
	text, err := cmdmod.Run(c, []string{"locale", "-a"}, nil)
	return payload.AnyList(strings.Split(text, "\n")), err
}

func avail(c *loader.Call, a named) (bool, error) {
	all, err := listAvail(c, struct{}{})
	wanted := split(a.Locale).normal()
	return slices.ContainsFunc(all, func(v any) bool {
		return split(strings.TrimSpace(v.(string))).normal() == wanted
	}), err
}

// status is what localectl says of the locale.
func status(c *loader.Call) (*payload.Map, error) {
	if which(c, "localectl") == "" {
		return nil, loader.ExecErr(`Unable to find "localectl"`)
	}
	out, err := cmdmod.RunAll(c, []string{"localectl", "status"}, payload.M("ignore_retcode", true))
	if err != nil {
		return nil, err
	}
	if strings.Contains(out.Stderr, "Failed to connect to bus: No such file or directory") {
		return nil, loader.ExecErr(`Command "localectl" is in a degraded state.`)
	}
	found, known, key := payload.NewMap(0), false, ""
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		name, data, ok := strings.Cut(line, ": ")
		if ok {
			key = strings.ToLower(strings.TrimSpace(name))
		} else {
			data = strings.TrimSpace(line)
		}
		known = known || ok && data != ""
		if variable, value, ok := strings.Cut(data, "="); ok && key == "system locale" && !strings.Contains(value, "=") {
			found.Set(variable, value)
		}
	}
	if !known {
		return nil, loader.ExecErr(`Unable to parse result of "localectl"`)
	}
	return found, nil
}

// kept is where a distribution keeps the locale of the host.
type kept struct{ file, variable string }

// place is that of this host; ok is false for an unknown distribution.
func place(c *loader.Call) (p kept, ok bool) {
	for family, p := range map[string]kept{"Suse": {"/etc/sysconfig/language", "RC_LANG"},
		"RedHat": {"/etc/sysconfig/i18n", "LANG"}, "Debian": {"/etc/default/locale", "LANG"}} {
		if strings.Contains(grain(c, "os_family"), family) {
			return p, true
		}
	}
	return p, false
}

func getLocale(c *loader.Call, _ struct{}) (string, error) {
	if systemd.Booted() && !oldSuse(c) {
		found, err := status(c)
		if err != nil {
			return "", err
		}
		return loader.Text(found.Value("LANG")), nil
	}
	if strings.Contains(grain(c, "os_family"), "Gentoo") {
		text, err := cmdmod.Run(c, []string{"eselect", "--brief", "locale", "show"}, nil)
		return strings.TrimSpace(text), err
	}
	p, ok := place(c)
	if !ok {
		return "", loader.ExecErr(`Error: "%s" is unsupported!`, grain(c, "oscodename"))
	}
	value, found, err := valueIn(p.file, p.variable)
	if !found {
		c.Log(slog.LevelError, "There is no "+p.variable+" in "+p.file+".")
	}
	return value, err
}

func setLocale(c *loader.Call, a named) (bool, error) {
	if err := checked(a.Locale); err != nil || strings.Contains(a.Locale, " ") {
		return false, loader.InvocErr("%s is no name of a locale", python.Repr(a.Locale))
	}
	byUpdate := major(c, "Debian", func(n int64) bool { return n >= 13 })
	if systemd.Booted() && !oldSuse(c) && !byUpdate {
		return true, tellLocaled(c, a.Locale)
	}
	if strings.Contains(grain(c, "os_family"), "Gentoo") {
		out, err := cmdmod.RunAll(c, []string{"eselect", "--brief", "locale", "set", a.Locale}, nil)
		return err == nil && out.Code == 0, err
	}
	p, ok := place(c)
	if !ok {
		return false, loader.ExecErr("Error: Unsupported platform!")
	}
	if strings.Contains(grain(c, "os_family"), "Debian") {
		update := which(c, "update-locale")
		if update == "" {
			return false, loader.ExecErr(`Cannot set locale: "update-locale" was not found.`)
		}
		if _, err := cmdmod.Run(c, []string{update}, nil); err != nil {
			return false, err
		}
	}
	err := setIn(p.file, p.variable, `"`+a.Locale+`"`)
	return err == nil, err
}

// tellLocaled sets the locale by localectl, and keeps its other variables. Where that cannot, its file is written.
func tellLocaled(c *loader.Call, locale string) error {
	found, err := status(c)
	if err != nil {
		return err
	}
	argv := []string{"localectl", "set-locale"}
	for name, value := range found.Clone().Set("LANG", locale).All() {
		argv = append(argv, name.(string)+"="+python.Str(value))
	}
	out, err := cmdmod.RunAll(c, argv, payload.M("ignore_retcode", true))
	if err != nil || out.Code == 0 {
		return err
	}
	return setIn("/etc/locale.conf", "LANG", locale)
}

// checked refuses what is no locale.
func checked(locale string) error {
	if locale == "" || strings.HasPrefix(locale, "-") || strings.ContainsAny(locale, "\n\r\t\v\f\"'`$\\/#=;") {
		return loader.InvocErr("%s is no name of a locale", python.Repr(locale))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
