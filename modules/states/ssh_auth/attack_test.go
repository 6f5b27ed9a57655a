package ssh_auth_test

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

// TestLinks: what a user plants in the home leads to no file of somebody else, and no line gets into a file that is not
// a key.
func TestLinks(t *testing.T) {
	if !statetest.Alone(t, []string{"/etc"}, []string{"/home", "/var/mail", "/var/log"}) {
		return
	}
	accounts, err := filepath.Abs("../statetest/testdata/accounts.sh")
	if err != nil {
		t.Fatal(err)
	}
	env, _ := statetest.Minion(t, nil, nil)
	sh := func(command string) {
		if _, _, err := modtest.Call(t, env, "cmd.run", []any{command}, payload.M("python_shell", true)); err != nil {
			t.Fatal(err)
		}
	}
	sh("sh " + accounts + "; mkdir /etc/theirs")
	before, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, plant string }{
		{"file", "mkdir .ssh; ln -s /etc/passwd .ssh/authorized_keys; cp -P .ssh/authorized_keys .ssh/known_hosts"},
		{"file that is not there", "mkdir .ssh; ln -s /etc/new .ssh/authorized_keys; ln -s /etc/new .ssh/known_hosts"},
		{"directory", "ln -s /etc/theirs .ssh"},
		{"pipe", "mkdir .ssh; mkfifo .ssh/authorized_keys .ssh/known_hosts"},
	} {
		sh("cd /home/ann; rm -rf .ssh; " + tt.plant + "; chown -hR 1000:1000 .ssh")
		for _, call := range []struct {
			fun string
			kw  *payload.Map
		}{
			{"ssh.set_auth_key", payload.M("user", "ann", "key", "SktM")},
			{"ssh.set_known_host", payload.M("user", "ann", "hostname", "new", "key", "SktM", "enc", "ssh-rsa",
				"hash_known_hosts", false)},
		} {
			if v, _, err := modtest.Call(t, env, call.fun, nil, call.kw); err == nil {
				t.Errorf("%s, %s: %s", tt.name, call.fun, outputters.JSON(v))
			}
		}
		if after, err := os.ReadFile("/etc/passwd"); err != nil || string(after) != string(before) {
			t.Fatalf("%s: %v\n%s", tt.name, err, after)
		}
		theirs, err := os.ReadDir("/etc/theirs")
		if _, errNew := os.Lstat("/etc/new"); err != nil || len(theirs) > 0 || errNew == nil {
			t.Fatalf("%s: %v, %v", tt.name, theirs, errNew)
		}
	}
}

// TestOneLine: an end of a line in a part of a key, or of a host, makes no line.
func TestOneLine(t *testing.T) {
	env, _ := statetest.Minion(t, nil, nil)
	const more = "x\nssh-rsa RVZJTA== evil"
	for _, kw := range []*payload.Map{
		payload.M("comment", more), payload.M("options", []any{more}), payload.M("key", "SktM\nssh-rsa")} {
		all := payload.M("user", "root", "key", "SktM", "config", filepath.Join(t.TempDir(), "keys"))
		all.Update(kw)
		v, _, err := modtest.Call(t, env, "ssh.set_auth_key", nil, all)
		if err != nil || v != "invalid" {
			t.Errorf("%v: %v, %v", kw, v, err)
		}
	}
	file := filepath.Join(t.TempDir(), "known")
	v, _, err := modtest.Call(t, env, "ssh.set_known_host", nil, payload.M("hostname", "a\nb", "key", "SktM",
		"enc", "ssh-rsa", "config", file))
	if text := outputters.JSON(v); err != nil || !strings.Contains(text, "error") {
		t.Errorf("%s, %v", text, err)
	}
}
