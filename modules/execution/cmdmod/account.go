package cmdmod

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/modules"
	"brine/modules/host/openfiles"
	"brine/modules/text/pytext"
)

// Limits of the login shell that is asked for a user's environment.
const (
	environmentTimeout = 10 * time.Second
	environmentMax     = 4 << 20 // bytes
)

// account is the user and group a command runs as.
type account struct {
	name       string // "" when only the group changes
	home       string
	credential *syscall.Credential // nil: the user this process runs as
}

// homeOf is the home directory of a user, "" of this process's own.
func homeOf(name string) string {
	if name == "" {
		if home, ok := os.LookupEnv("HOME"); ok {
			return home
		}
		if u, err := user.Current(); err == nil {
			return u.HomeDir
		}
		return "~"
	}
	if u, err := user.Lookup(name); err == nil {
		return u.HomeDir
	}
	return "~" + name
}

// setAccount looks up runas and group. Unlike Salt: the group is set by this process, sudo is not needed for it.
func (cmd *command) setAccount() error {
	if cmd.runas == "" && cmd.group == "" {
		return nil
	}
	u, err := user.Current()
	if cmd.runas != "" {
		if u, err = user.Lookup(cmd.runas); err != nil {
			return modules.ExecErr("User '%s' is not available", cmd.runas)
		}
	}
	if err != nil {
		return fmt.Errorf("look up the own user: %w", err)
	}
	cred, err := credentialOf(u)
	if err != nil {
		return err
	}
	if cmd.group != "" {
		g, err := user.LookupGroup(cmd.group)
		if err != nil {
			return modules.ExecErr("Group '%s' is not available", cmd.group)
		}
		gid, _ := strconv.ParseUint(g.Gid, 10, 32)
		cred.Gid = uint32(gid)
	}
	cmd.account = &account{name: cmd.runas, home: u.HomeDir}
	if int(cred.Uid) != os.Geteuid() || int(cred.Gid) != os.Getegid() {
		cmd.account.credential = cred
	}
	return nil
}

func credentialOf(u *user.User) (*syscall.Credential, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("uid of %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("gid of %s: %w", u.Username, err)
	}
	cred := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	ids, err := u.GroupIds()
	if err != nil {
		return cred, nil
	}
	for _, id := range ids {
		if n, err := strconv.ParseUint(id, 10, 32); err == nil {
			cred.Groups = append(cred.Groups, uint32(n))
		}
	}
	return cred, nil
}

// environment asks a login shell of the user for its environment. A user whose login fails has none, which is
// logged and no error.
func (a *account) environment(cmd *command) *variables {
	if a.name == "" {
		return newVariables(nil)
	}
	const marker = "<<<brine-environment>>>"
	args := []string{"-", a.name, "-c", "printf '%s' '" + marker + "'; env -0; printf '%s' '" + marker + "'"}
	if cmd.shell != "" {
		args = append([]string{"-s", cmd.shell}, args...)
	}
	ctx, cancel := context.WithTimeout(cmd.call.Ctx, environmentTimeout)
	defer cancel()
	most := &budget{most: environmentMax} // a log-in script of the user may write without end
	stdout, stderr := capped{of: most}, capped{of: most}
	su := exec.CommandContext(ctx, "su", args...)
	su.Stdout, su.Stderr, su.WaitDelay = &stdout, &stderr, time.Second
	openfiles.Keep()
	err := su.Run()
	parts := strings.Split(stdout.buf.String(), marker)
	if len(parts) != 3 {
		cmd.call.Log(slog.LevelError, fmt.Sprintf("Environment could not be retrieved for user '%s': stderr=%s stdout=%s",
			a.name, pytext.Repr(stderr.buf.String()), pytext.Repr(parts[0])))
		return newVariables(nil)
	}
	_ = err // what the shell's own exit code is does not matter once both markers are there
	return newVariables(strings.Split(parts[1], "\x00"))
}

// identify sets the names a login sets, whatever the shell's start files did to them.
func (a *account) identify(env *variables) {
	if a.name == "" {
		return
	}
	env.set("USER", a.name)
	env.set("HOME", a.home)
}
