package aptpkg

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// quietly are the variables with which dpkg, debconf and their kin ask nobody.
func quietly() *payload.Map {
	return payload.M("APT_LISTBUGS_FRONTEND", "none", "APT_LISTCHANGES_FRONTEND", "none",
		"DEBIAN_FRONTEND", "noninteractive", "UCF_FORCE_CONFFOLD", "1")
}

// lockTries is how often a program that waits for the lock of dpkg is started again; it waits twice as long each time.
const lockTries = 10

// apt runs a program that may change packages. With systemd it gets a scope of its own, so that an upgrade of the
// minion does not end it. more are arguments of cmd.run_all; they may be nil.
func apt(c *loader.Call, argv []string, more *payload.Map) (cmdmod.Output, error) {
	if scoped(c) {
		argv = append([]string{"systemd-run", "--scope", "--description", `"salt.loaded.int.module.aptpkg"`}, argv...)
	}
	return unscoped(c, argv, more)
}

// unscoped is apt without a scope.
func unscoped(c *loader.Call, argv []string, more *payload.Map) (cmdmod.Output, error) {
	more = more.Clone()
	env := quietly()
	if own, ok := more.Value("env").(*payload.Map); ok {
		env.Update(own)
	}
	more.Set("env", env)
	for try := 1; ; try++ {
		out, err := cmdmod.RunAll(c, argv, more)
		if err != nil || try > lockTries || !strings.Contains(out.Stderr, "Could not get lock") {
			return out, err
		}
		c.Log(slog.LevelWarn, "Waiting for dpkg lock release: retrying...")
		select {
		case <-c.Ctx.Done():
			return out, nil
		case <-time.After(time.Second << try):
		}
	}
}

// scoped tells whether systemd runs this machine and the option systemd.scope allows it.
func scoped(c *loader.Call) bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil || program.Which("systemd-run") == "" {
		return false
	}
	v, err := c.Call("config.get", []any{"systemd.scope", true}, nil)
	return err == nil && python.Truth(v)
}

// ofCommand are the keywords of a call that are for the program: its environment and its time.
func ofCommand(kw *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for _, key := range []string{"timeout", "cwd", "umask", "nice"} {
		if v, ok := kw.Get(key); ok {
			out.Set(key, v)
		}
	}
	switch env := kw.Value("env").(type) {
	case *payload.Map:
		out.Set("env", env)
	case []any:
		merged := payload.NewMap(len(env))
		for _, item := range env {
			m, _ := item.(*payload.Map)
			merged.Update(m)
		}
		out.Set("env", merged)
	}
	return out
}

// namesOnly refuses words that apt-get and dpkg would not take for the name of a package: an option, a removal (a dash
// at the end), several lines.
func namesOnly(words ...string) error {
	if err := cmdmod.Operand(words...); err != nil {
		return err
	}
	for _, word := range words {
		if word == "" || strings.HasSuffix(word, "-") || strings.ContainsFunc(word, python.IsSpace) {
			return loader.ExecErr("%s is no name of a package", python.Repr(word))
		}
	}
	return nil
}

// tested tells whether a call is to change nothing: by its argument, as a state gives it, or by the option.
func tested(c *loader.Call, kw *payload.Map) bool {
	if v, given := kw.Get("test"); given {
		return python.Truth(v)
	}
	return python.Truth(c.Opts().Value("test"))
}

// texts are the installed packages with their versions in a text each, or those of which only the configuration is
// left.
func (k *known) texts(removed bool) *payload.Map {
	out := payload.NewMap(0)
	if removed {
		out.Update(k.removed)
	} else {
		out.Update(k.purgeDesired)
		out.Update(k.installed)
	}
	return asWanted(out, false)
}

// sortedOnce are words without doubles, in their order.
func sortedOnce(words []string) []string {
	out := slices.Clone(words)
	slices.Sort(out)
	return slices.Compact(out)
}
