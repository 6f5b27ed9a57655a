package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of the login shell that is asked for a user's environment.
const (
	loginTimeout = 10 * time.Second
	loginMax     = 4 << 20 // bytes
)

// Account is the user and group a program runs as.
type Account struct {
	Name       string // "" when only the group changes
	Home       string
	Credential *syscall.Credential // nil: the user this process runs as
}

// What LookupAccount does not find.
var (
	ErrNoUser  = errors.New("program: no such user")
	ErrNoGroup = errors.New("program: no such group")
)

// LookupAccount finds a user, "" for that of this process, with all its groups, and a group that stands in the place of
// its first one, "" for that. Unlike Salt: the group is set by this process, sudo is not needed for it.
func LookupAccount(name, group string) (*Account, error) {
	u, err := user.Current()
	if name != "" {
		if u, err = user.Lookup(name); err != nil {
			return nil, ErrNoUser
		}
	}
	if err != nil {
		return nil, fmt.Errorf("look up the own user: %w", err)
	}
	cred, err := credentialOf(u)
	if err != nil {
		return nil, err
	}
	if group != "" {
		g, err := user.LookupGroup(group)
		if err != nil {
			return nil, ErrNoGroup
		}
		gid, _ := strconv.ParseUint(g.Gid, 10, 32)
		cred.Gid = uint32(gid)
	}
	a := &Account{Name: name, Home: u.HomeDir}
	if int(cred.Uid) != os.Geteuid() || int(cred.Gid) != os.Getegid() {
		a.Credential = cred
	}
	return a, nil
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

// LoginError is what a login shell said instead of its environment.
type LoginError struct{ Stdout, Stderr string }

func (e *LoginError) Error() string { return "program: a login shell did not tell its environment" }

// Login asks a login shell of the user, its own or another, for its environment.
func (a *Account) Login(ctx context.Context, shell string) (*Vars, error) {
	if a.Name == "" {
		return NewVars(nil), nil
	}
	const marker = "<<<brine-environment>>>"
	argv := []string{"-", a.Name, "-c", "printf '%s' '" + marker + "'; env -0; printf '%s' '" + marker + "'"}
	if shell != "" {
		argv = append([]string{"-s", shell}, argv...)
	}
	// A log-in script of the user may write without end. What the shell's own exit code is does not matter once both
	// markers are there.
	r, err := Run(ctx, Spec{Argv: append([]string{"su"}, argv...), Timeout: loginTimeout, Output: NewBudget(loginMax)})
	parts := strings.Split(string(r.Stdout), marker)
	if len(parts) != 3 {
		if err != nil && r.PID == 0 {
			return nil, &LoginError{Stderr: err.Error()}
		}
		return nil, &LoginError{Stdout: parts[0], Stderr: string(r.Stderr)}
	}
	return NewVars(strings.Split(parts[1], "\x00")), nil
}

// Home is the home directory of a user, "" of this process's own.
func Home(name string) string {
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
