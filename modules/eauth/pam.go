package eauth

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"brine/modules/host/program"
)

//go:embed pam.py
var pamScript string

const (
	pamService = "login"            // auth.pam.service
	pamPython  = "/usr/bin/python3" // auth.pam.python
)

// authPAM asks PAM in a process of its own, whose groups are those that the system knows the user by. This program has
// no libpam inside, and modules of PAM would hold up or end a master; so a small script in Python does it
// (auth.pam.python), as with Salt. Unlike Salt: user and password go through a pipe, not the environment, which root
// and the master's user can read in /proc. Source: salt/auth/pam.py.
func authPAM(ctx context.Context, a *attempt) (*admitted, error) {
	service := cmp.Or(a.option("auth.pam.service"), pamService)
	if hasNUL(service) || a.user == "" {
		return nil, nil
	}
	input := pamScript + service + "\x00" + a.user + "\x00" + a.password
	reader := fmt.Sprintf("import sys; exec(sys.stdin.buffer.read(%d))", len(pamScript))
	r, err := program.Run(ctx, program.Spec{Argv: []string{cmp.Or(a.option("auth.pam.python"), pamPython), "-I", "-S",
		"-c", reader}, Dir: "/", Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"}, Input: &input,
		Timeout: patience, Output: program.NewBudget(1 << 20)})
	switch {
	case err != nil:
		return nil, fmt.Errorf("external_auth: pam: auth.pam.python: %w", err)
	case r.TimedOut:
		return nil, errors.New("external_auth: pam: no answer in time")
	case r.Code == 0:
		return &admitted{groups: namesOf(string(r.Stdout))}, nil
	case r.Code == 1 && len(r.Stderr) == 0:
		return nil, nil
	}
	return nil, fmt.Errorf("external_auth: pam: %.200q", cmp.Or(strings.TrimSpace(string(r.Stderr)),
		fmt.Sprint("exit code ", r.Code)))
}

// namesOf reads names with a NUL behind each.
func namesOf(text string) []any {
	var out []any
	for name := range strings.SplitSeq(text, "\x00") {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}
