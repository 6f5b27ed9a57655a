package user_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// TestSecret: neither a password nor its hash stands in a command line, in a return or in a log.
func TestSecret(t *testing.T) {
	if !statetest.Alone(t, []string{"/etc"}, []string{"/home", "/var/mail", "/var/log", "/usr/local/sbin"}) {
		return
	}
	accounts, err := filepath.Abs("../statetest/testdata/accounts.sh")
	if err != nil {
		t.Fatal(err)
	}
	env, _ := statetest.Minion(t, payload.M("base/t.sls", `
ann: {user.present: [{password: $6$saltsalt$thehashofann}]}
bob: {user.present: [{password: clearoftext, hash_password: true}]}
cal: {user.present: [{password: '$6$bad:hash$thehashofcal'}]}
old: {user.present: [{password: $6$saltsalt$thehashofold, createhome: false}]}
`), nil)
	setup := "sh " + accounts + "; cd /usr/local/sbin; for p in useradd usermod chpasswd passwd chage getent id; do " +
		`printf '#!/bin/sh\necho "$0 $*" >> /var/log/argv\nPATH=/usr/sbin:/usr/bin:/sbin:/bin; exec %s "$@"\n' $p > $p; ` +
		"chmod 755 $p; done"
	if _, _, err := modtest.Call(t, env, "cmd.run", []any{setup}, payload.M("python_shell", true)); err != nil {
		t.Fatal(err)
	}
	seen := ""
	for _, kw := range []*payload.Map{payload.M("test", true), nil, nil} {
		v, _, err := modtest.Call(t, env, "state.apply", []any{"t"}, kw)
		if err != nil {
			t.Fatal(err)
		}
		seen += outputters.JSON(v)
	}
	argv, err := os.ReadFile("/var/log/argv")
	if err != nil || !strings.Contains(string(argv), "chpasswd -e") {
		t.Fatalf("%v\n%s", err, argv)
	}
	shadow, err := os.ReadFile("/etc/shadow")
	if err != nil || !strings.Contains(string(shadow), "\nann:$6$saltsalt$thehashofann:") ||
		!strings.Contains(string(shadow), "\nbob:$6$") {
		t.Errorf("%v\n%s", err, shadow)
	}
	seen += string(argv) + strings.Join(env.Host.Log.(*modtest.Log).Lines(), "\n")
	for _, secret := range []string{"thehashof", "clearoftext"} {
		if at := strings.Index(seen, secret); at >= 0 {
			t.Errorf("%s is seen: %s", secret, seen[max(0, at-300):min(len(seen), at+100)])
		}
	}
}
