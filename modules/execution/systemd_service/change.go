package systemd_service

import (
	"os"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// ofChange are the functions that start, stop, enable and mask services.
func (o Options) ofChange() []loader.Func {
	return []loader.Func{
		fn(o, "start", startFunc, "Start a service.", "ssh"),
		fn(o, "stop", stopFunc, "Stop a service.", "ssh"),
		fn(o, "restart", restartFunc, "Restart a service.", "ssh"),
		fn(o, "reload", reloadFunc, "Have a service read its configuration again.", "ssh"),
		fn(o, "force_reload", forceReloadFunc, "Have a service read its configuration again, or restart it.", "ssh"),
		fn(o, "enable", enableFunc, "Have a service start with the host.", "ssh"),
		fn(o, "disable", disableFunc, "Have a service not start with the host.", "ssh"),
		fn(o, "mask", maskFunc, "Mask a service for good, or with runtime=True until the next boot.",
			"ssh runtime=True"),
		fn(o, "unmask", unmaskFunc, "Take the mask off a service, for good or until the next boot.",
			"ssh runtime=True"),
		fn(o, "systemctl_reload", func(h *host, _ struct{}) (bool, error) { return true, h.reload() },
			"Have systemd read its unit files again.", ""),
		fn(o, "firstboot", firstboot, "Make basic settings of a host that was not booted yet.", "keymap=jp root=/mnt"),
		fn(o, "offline", func(*host, struct{}) (bool, error) { return false, nil },
			"Tell that systemd has booted this host.", ""),
	}
}

type (
	// unmasking says which masks are taken off first.
	unmasking struct {
		Unmask        bool `arg:"unmask=False"`
		UnmaskRuntime bool `arg:"unmask_runtime=False"`
	}
	started struct {
		Name    string `arg:"name"`
		NoBlock bool   `arg:"no_block=False"`
		unmasking
	}
	forced struct {
		Name    string `arg:"name"`
		NoBlock bool   `arg:"no_block=True"`
		unmasking
	}
	restarted struct {
		Name    string `arg:"name"`
		NoBlock any    `arg:"no_block=None"`
		unmasking
	}
	stopped struct {
		Name    string `arg:"name"`
		NoBlock any    `arg:"no_block=None"`
	}
	enabledAs struct {
		started
		rooted
		KW *payload.Map `arg:"**kwargs"` // of states, for other modules of that name
	}
	disabledAs struct {
		Name    string `arg:"name"`
		NoBlock bool   `arg:"no_block=False"`
		rooted
		KW *payload.Map `arg:"**kwargs"`
	}
)

// minionService is the unit that this minion runs in, when a package has installed it. To wait for its own end it
// cannot.
const minionService = "salt-minion.service"

func waits(name string, noBlock any) bool {
	if noBlock == nil {
		return unit(name) != minionService
	}
	return !python.Truth(noBlock)
}

func startFunc(h *host, a started) (bool, error) {
	return h.perform("start", a.Name, !a.NoBlock, a.unmasking)
}

func restartFunc(h *host, a restarted) (bool, error) {
	return h.perform("restart", a.Name, waits(a.Name, a.NoBlock), a.unmasking)
}

func reloadFunc(h *host, a started) (bool, error) {
	return h.perform("reload", a.Name, !a.NoBlock, a.unmasking)
}

func forceReloadFunc(h *host, a forced) (bool, error) {
	return h.perform("force-reload", a.Name, !a.NoBlock, a.unmasking)
}

func stopFunc(h *host, a stopped) (bool, error) {
	if err := h.notice(a.Name); err != nil {
		return false, err
	}
	out, err := h.act(nil, nil, waits(a.Name, a.NoBlock), "stop", a.Name)
	return err == nil && out.Code == 0, err
}

// perform has systemd do something with a service; what it says when it fails is the error.
func (h *host) perform(verb, name string, wait bool, masks unmasking) (bool, error) {
	if err := h.prepare(name, masks, nil); err != nil {
		return false, err
	}
	out, err := h.act(nil, nil, wait, verb, name)
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("%s", withoutScope(out.Stderr))
	}
	return err == nil, err
}

// prepare has changed unit files read, and takes masks off.
func (h *host) prepare(name string, masks unmasking, root any) error {
	if err := h.notice(name); err != nil {
		return err
	}
	for _, m := range []struct{ wanted, runtime bool }{{masks.Unmask, false}, {masks.UnmaskRuntime, true}} {
		if !m.wanted {
			continue
		}
		if _, err := unmaskFunc(h, masking{named{name}, m.runtime, rooted{root}}); err != nil {
			return err
		}
	}
	return nil
}

// act runs systemctl to change something, in a scope where systemd and the options say so: a service of ours that is
// restarted then does not end systemctl with us. Unlike Salt: a name that would be an option is refused.
func (h *host) act(how *payload.Map, root any, wait bool, verb, name string, options ...string) (cmdmod.Output, error) {
	if err := cmdmod.Operand(name); err != nil {
		return cmdmod.Output{}, err
	}
	argv, err := h.scope()
	if err != nil {
		return cmdmod.Output{}, err
	}
	command := h.command(nil)
	if !wait {
		command = append(command, "--no-block")
	}
	if python.Truth(root) {
		command = append(command, "--root", loader.Text(root))
	}
	command = append(append(command, verb), options...)
	return cmdmod.RunAll(h.c, slices.Concat(argv, command, []string{unit(name)}), how)
}

// newScopes is the release of systemd from which on systemd-run makes scopes.
const newScopes = 205

// scope is the beginning of a command line that runs in a scope; nil: none is wanted, or to be had.
func (h *host) scope() ([]string, error) {
	number, known, err := h.version()
	if err != nil || !known || number < newScopes {
		return nil, err
	}
	out, err := program.Run(h.c.Ctx, program.Spec{Argv: []string{"systemctl", "status"}})
	if err != nil || strings.Contains(string(out.Stderr),
		"Failed to get D-Bus connection: No such file or directory") {
		return nil, err
	}
	wanted, err := h.c.Call("config.get", []any{"systemd.scope", true}, nil)
	if err != nil || !python.Truth(wanted) {
		return nil, err
	}
	path := h.which("systemd-run")
	if path == "" {
		return nil, loader.ExecErr("systemd-run is required for running systemctl with --scope, but it was not found on " +
			"the system. Make sure systemd-run is installed and in the system's PATH or disable it using the " +
			"'systemd.scope' config option.")
	}
	return []string{path, "--scope"}, nil
}

// withoutScope is an output without the line in which systemd-run names its scope.
func withoutScope(text string) string {
	kept := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasSuffix(line, ".scope")
	})
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

func enableFunc(h *host, a enabledAs) (bool, error) {
	if err := h.prepare(a.Name, a.unmasking, a.Root); err != nil {
		return false, err
	}
	if slices.Contains(h.scripts(a.Root, nil), a.Name) {
		return h.script(a.Name, []string{"defaults", "99"}, "on")
	}
	out, err := h.act(quiet, a.Root, !a.NoBlock, "enable", a.Name)
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("%s", withoutScope(out.Stderr))
	}
	return err == nil, err
}

func disableFunc(h *host, a disabledAs) (bool, error) {
	if err := h.notice(a.Name); err != nil {
		return false, err
	}
	if slices.Contains(h.scripts(a.Root, nil), a.Name) {
		return h.script(a.Name, []string{"remove"}, "off")
	}
	out, err := h.act(quiet, a.Root, !a.NoBlock, "disable", a.Name)
	return err == nil && out.Code == 0, err
}

// script enables or disables a script of System V: words are for update-rc.d, verb is for chkconfig.
func (h *host) script(name string, words []string, verb string) (bool, error) {
	if err := cmdmod.Operand(name); err != nil {
		return false, err
	}
	argv, err := h.scope()
	if err != nil {
		return false, err
	}
	if path := h.which("update-rc.d"); path != "" {
		argv = append(append(argv, path, "-f", name), words...)
	} else if path := h.which("chkconfig"); path != "" {
		argv = append(argv, path, name, verb)
	} else {
		return false, loader.ExecErr("Unable to find sysv service manager (tried update-rc.d, chkconfig)")
	}
	out, err := cmdmod.RunAll(h.c, argv, quiet)
	return err == nil && out.Code == 0, err
}

// runtimeOption is the option for what holds until the next boot.
func runtimeOption(runtime bool) []string {
	if runtime {
		return []string{"--runtime"}
	}
	return nil
}

func maskFunc(h *host, a masking) (bool, error) {
	if err := h.notice(a.Name); err != nil {
		return false, err
	}
	out, err := h.act(careful, a.Root, true, "mask", a.Name, runtimeOption(a.Runtime)...)
	if err == nil && out.Code != 0 {
		text := "Failed to mask service '" + a.Name + "'"
		if out.Stdout != "" {
			text += ". Additional info follows:\n\n" + out.Stdout
		}
		err = loader.ExecErr("%s", text)
	}
	return err == nil, err
}

func unmaskFunc(h *host, a masking) (bool, error) {
	masked, err := maskedFunc(h, a)
	if err != nil || !masked {
		return err == nil, err
	}
	out, err := h.act(careful, a.Root, true, "unmask", a.Name, runtimeOption(a.Runtime)...)
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("Failed to unmask service '%s'", a.Name)
	}
	return err == nil, err
}

type firstBoot struct {
	Locale        any `arg:"locale=None"`
	LocaleMessage any `arg:"locale_message=None"`
	Keymap        any `arg:"keymap=None"`
	Timezone      any `arg:"timezone=None"`
	Hostname      any `arg:"hostname=None"`
	MachineID     any `arg:"machine_id=None"`
	rooted
}

func firstboot(h *host, a firstBoot) (bool, error) {
	path := h.which("systemd-firstboot")
	if path == "" {
		return false, &loader.CommandNotFoundError{Message: "systemd-firstboot is not installed"}
	}
	argv := []string{path}
	for _, p := range []struct {
		name  string
		value any
	}{{"locale", a.Locale}, {"locale-message", a.LocaleMessage}, {"keymap", a.Keymap}, {"timezone", a.Timezone},
		{"hostname", a.Hostname}, {"machine-ID", a.MachineID}, {"root", a.Root}} {
		if python.Truth(p.value) {
			argv = append(argv, "--"+p.name+"="+loader.Text(p.value))
		}
	}
	out, err := cmdmod.RunAll(h.c, argv, nil)
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("systemd-firstboot error: %s", out.Stderr)
	}
	return err == nil, err
}

// booted tells whether systemd has booted the host.
func (h *host) booted() bool {
	_, err := os.Stat(h.at("/run/systemd/system", nil))
	return err == nil
}
