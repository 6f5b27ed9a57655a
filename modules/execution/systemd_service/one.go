package systemd_service

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"

	"golang.org/x/sys/unix"
)

func availableFunc(h *host, a named) (bool, error) { return h.available(a.Name) }

func missingFunc(h *host, a named) (bool, error) {
	there, err := h.available(a.Name)
	return !there, err
}

func (h *host) available(name string) (bool, error) {
	if err := h.notice(name); err != nil {
		return false, err
	}
	return h.known(name)
}

var loadedAs = pattern.New(`^\s+loaded:\s+(\S+)`)

// newStates is the release of systemd from which on systemctl status ends with 4 for a unit that is not there.
const newStates = 231

// known tells whether systemd knows a unit.
func (h *host) known(name string) (bool, error) {
	out, err := h.state(name)
	if err != nil {
		return false, err
	}
	number, known, err := h.version()
	switch {
	case err != nil:
		return false, err
	case known && number >= newStates:
		return out.Code >= 0 && out.Code < 4, nil
	}
	text := strings.ToLower(out.Stdout)
	if strings.Contains(text, "could not be found") {
		return false, nil
	}
	for _, line := range lines(text) {
		if m := loadedAs.FindStringSubmatch(line); m != nil {
			return m[1] != "not-found", nil
		}
	}
	return false, loader.ExecErr("Failed to get information on unit '%s'", name)
}

// notice has systemd read its unit files again if it does not know a unit of the administrator, or if the file of the
// unit has changed.
func (h *host) notice(name string) error {
	stale, err := h.untracked(name)
	if err != nil {
		return err
	}
	if !stale {
		out, err := h.state(name)
		if err != nil || !strings.Contains(strings.ToLower(out.Stdout), "'systemctl daemon-reload'") {
			return err
		}
	}
	return h.reload()
}

// reload has systemd read its unit files again.
func (h *host) reload() error {
	out, err := h.ask(careful, nil, "--system", "daemon-reload")
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("Problem performing systemctl daemon-reload: %s", out.Stdout)
	}
	return err
}

// untracked tells whether there is a file of the administrator for a unit that systemd does not know.
func (h *host) untracked(name string) (bool, error) {
	path := pypath.Join(h.at("/etc/systemd/system", nil), unit(name))
	if unix.Access(path, unix.R_OK) != nil {
		return false, nil
	}
	known, err := h.known(name)
	return !known, err
}

type masking struct {
	named
	Runtime bool `arg:"runtime=False"`
	rooted
}

func maskedFunc(h *host, a masking) (bool, error) {
	name := a.Name
	if err := h.notice(name); err != nil {
		return false, err
	}
	dir := "/etc"
	if a.Runtime {
		dir = "/run"
	}
	path := pypath.Join(h.at(dir, a.Root), "systemd", "system", unit(name))
	target, err := os.Readlink(path)
	if errors.Is(err, syscall.EINVAL) {
		h.c.Log(slog.LevelError, "Whether "+name+" is masked cannot be told: "+path+" is a file and no link")
	}
	return err == nil && target == "/dev/null", nil
}

var globbing = pattern.New(`\*|\?|\[.+\]`)

type running struct {
	Name any `arg:"name"`
	Sig  any `arg:"sig=None"` // of other modules of that name
}

func statusFunc(h *host, a running) (any, error) {
	name, ok := a.Name.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "expected string or bytes-like object, got '" +
			python.Type(a.Name) + "'"}
	}
	if !globbing.MatchString(name) {
		return h.active(name)
	}
	out, glob := payload.NewMap(0), fnmatch.Compile(name)
	for _, service := range h.all(nil) {
		if !glob.Match(service) {
			continue
		}
		active, err := h.active(service)
		if err != nil {
			return nil, err
		}
		out.Set(service, active)
	}
	return out, nil
}

func (h *host) active(name string) (bool, error) {
	if err := h.notice(name); err != nil {
		return false, err
	}
	out, err := h.about(merged, nil, "is-active", name)
	return out.Code == 0, err
}

type starting struct {
	Name any `arg:"name"`
	rooted
}

type startingWith struct {
	starting
	KW *payload.Map `arg:"**kwargs"` // of states, for other modules of that name
}

func enabledFunc(h *host, a startingWith) (bool, error) { return h.enabled(a.Name, a.Root) }

func disabledFunc(h *host, a starting) (bool, error) {
	enabled, err := h.enabled(a.Name, a.Root)
	return !enabled, err
}

// enabled asks systemctl first. Old ones do not answer for instances of a template, and none does for scripts of
// System V.
func (h *host) enabled(of, root any) (bool, error) {
	name := loader.Text(of)
	out, err := h.about(quiet, root, "is-enabled", name)
	switch {
	case err != nil:
		return false, err
	case out.Stdout == "alias":
		return h.aliasEnabled(name, root)
	case out.Code == 0:
		return true, nil
	}
	if _, ok := of.(string); !ok {
		return false, &loader.ArgumentError{Message: "argument of type '" + python.Type(of) + "' is not iterable"}
	}
	if strings.Contains(name, "@") {
		found, err := cmdmod.Run(h.c, []string{"find", h.at("/etc/systemd/system", nil), "-name", name, "-type", "l",
			"-print", "-quit"}, nil)
		return found != "", err
	}
	for _, script := range h.scripts(root, nil) {
		if script == name {
			return h.scriptEnabled(name, root)
		}
	}
	return false, nil
}

// aliasEnabled tells of the service behind another name of it.
func (h *host) aliasEnabled(name string, root any) (bool, error) {
	out, err := h.about(nil, root, "show", name, "-P", "Id")
	if err != nil {
		return false, err
	}
	out, err = h.about(merged, root, "is-enabled", out.Stdout)
	return out.Code == 0, err
}

func showFunc(h *host, a namedIn) (*payload.Map, error) { return h.show(a.Name, a.Root) }

// show reads the properties of a unit: structures become maps, and some lists lists.
func (h *host) show(name string, root any) (*payload.Map, error) {
	if err := cmdmod.Operand(name); err != nil {
		return nil, err
	}
	text, err := h.read(nil, root, "show", unit(name))
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, line := range lines(text) {
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(value, "{"):
			fields, err := structure(value)
			if err != nil {
				return nil, err
			}
			out.Set(key, fields)
		case key == "Before" || key == "After" || key == "Wants":
			list := []any{}
			for _, word := range strings.Fields(value) {
				list = append(list, word)
			}
			out.Set(key, list)
		default:
			out.Set(key, value)
		}
	}
	return out, nil
}

// structure reads "{ path=/bin/x ; argv[]=/bin/x -a ; ... }". As in Salt, a value ends at its own first "=".
func structure(text string) (*payload.Map, error) {
	out := payload.NewMap(0)
	text = strings.NewReplacer("{", "", "}", "").Replace(text)
	for field := range strings.SplitSeq(text, " ; ") {
		parts := strings.Split(field, "=")
		if len(parts) < 2 {
			return nil, loader.Raise("IndexError", "list index out of range")
		}
		out.Set(strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]))
	}
	return out, nil
}
