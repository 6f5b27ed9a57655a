package eauth

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
)

// pamHouse gives a command a machine where /etc/passwd, /etc/shadow, /etc/group and /etc/pam.d/brine-test are its own:
// user ann has the password OpenSesame, bob's account has expired, and master may read /etc/shadow.
const pamHouse = `set -e
mount -t tmpfs none /mnt
printf 'root:x:0:0::/:/bin/sh\nann:x:4001:4001::/:/bin/sh\nbob:x:4002:4001::/:/bin/sh\nmaster:x:4003:4003::/:/bin/sh\n' > /mnt/passwd
printf 'root:x:0:\nshadow:x:42:master\nstaff:x:4001:\nops:x:4005:ann\nmaster:x:4003:\n' > /mnt/group
printf 'root:*:19000:0:99999:7:::\nann:%s:19000:0:99999:7:::\nbob:%s:19000:0:99999:7::100:\n' '` + pamHash + `' '` + pamHash + `' > /mnt/shadow
chgrp 42 /mnt/shadow && chmod 640 /mnt/shadow
mkdir /mnt/pam.d
printf 'auth required pam_unix.so nodelay\naccount required pam_unix.so\n' > /mnt/pam.d/brine-test
printf 'auth required pam_exec.so quiet expose_authtok /mnt/exec\naccount required pam_permit.so\n' > /mnt/pam.d/brine-exec
printf '#!/bin/sh\ntr "\\0" "\\n" > /mnt/seen; [ "$(cat /mnt/seen)" = OpenSesame ]\n' > /mnt/exec
chmod 755 /mnt /mnt/exec
printf 'auth required pam_missing.so\naccount required pam_permit.so\n' > /mnt/pam.d/brine-broken
for f in passwd group shadow pam.d; do mount --bind /mnt/$f /etc/$f; done
exec "$@"`

const pamHash = "$6$abcdefgh$zE1hvMAlpK.GoaLBeiEz4inIeUmFdXwQV9vM7g7XMkwnHAgjatjzwPWLtdvAMfzQX.AOVy0Nvecaw7fiQMY4J."

// inPAMHouse runs the test once more there, and tells whether this is that run. as is a command that goes before it.
func inPAMHouse(t *testing.T, as ...string) bool {
	t.Helper()
	if os.Getenv("BRINE_PAM_HOUSE") != "" {
		return true
	}
	for _, f := range []string{pamPython, "/etc/pam.d", "/etc/shadow"} {
		if _, err := os.Stat(f); err != nil {
			t.Skipf("no %s here", f)
		}
	}
	if os.Geteuid() != 0 || exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Skip("only root can give PAM users of its own")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append([]string{"--mount", "sh", "-c", pamHouse, "sh"}, as...)
	cmd := exec.Command("unshare", append(argv, self, "-test.run=^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), "BRINE_PAM_HOUSE=1", "TMPDIR=/tmp")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

func pamAttempt(t *testing.T, service, user, password string, settings ...any) *attempt {
	t.Helper()
	s := payload.M(append([]any{"auth.pam.service", service}, settings...)...)
	return &attempt{Service: New(Options{Settings: s}), user: user, password: password}
}

// TestPAM asks the real PAM of this machine about users of the test's own.
func TestPAM(t *testing.T) {
	if !inPAMHouse(t) {
		return
	}
	for _, tt := range []struct {
		service, user, password string
		groups                  string // "" = refused
		fault                   bool
	}{
		{"brine-test", "ann", "OpenSesame", "['staff', 'ops']", false},
		{"brine-test", "ann", "opensesame", "", false},
		{"brine-test", "ann", "", "", false},
		{"brine-test", "bob", "OpenSesame", "", false},
		{"brine-test", "zoe", "OpenSesame", "", false},
		{"brine-test", "root", "", "", false},
		{"brine-test", "", "OpenSesame", "", false},
		{"brine-test", "-h", "OpenSesame", "", false},
		{"brine-test", "ann\nroot", "OpenSesame", "", false},
		{"brine-exec", "ann", "OpenSesame", "['staff', 'ops']", false},
		{"brine-exec", "nobody here", "OpenSesame", "[]", false}, // of PAM alone
		{"brine-exec", "ann", strings.Repeat("x", 100), "", true},
		{"brine-broken", "ann", "OpenSesame", "", true},
		{"no-such-service", "ann", "OpenSesame", "", true},
		{"../pam.d/brine-test", "ann", "wrong", "", false},
	} {
		in, err := authPAM(t.Context(), pamAttempt(t, tt.service, tt.user, tt.password))
		switch got := ""; {
		case in != nil:
			if got = python.Repr(append([]any{}, in.groups...)); got != tt.groups {
				t.Errorf("%+v: got %s", tt, got)
			}
		case tt.groups != "" || (err != nil) != tt.fault:
			t.Errorf("%+v: got %v", tt, err)
		}
	}
}

// TestPAMWithoutRoot: a master that is no root, but of the group that may read /etc/shadow, can ask about everybody.
func TestPAMWithoutRoot(t *testing.T) {
	if !inPAMHouse(t, "setpriv", "--reuid=4003", "--regid=4003", "--groups=42", "--no-new-privs",
		"--bounding-set=-all") {
		return
	}
	if os.Geteuid() == 0 {
		t.Fatal("this is root")
	}
	for password, want := range map[string]bool{"OpenSesame": true, "x": false} {
		if in, err := authPAM(t.Context(), pamAttempt(t, "brine-test", "ann", password)); (in != nil) != want ||
			err != nil {
			t.Errorf("%s: got %v, %v", password, in, err)
		}
	}
}

// TestPAMSecret: no process shows the password in its arguments or its environment.
func TestPAMSecret(t *testing.T) {
	dir := t.TempDir()
	fake, seen := filepath.Join(dir, "python"), filepath.Join(dir, "seen")
	script := fmt.Sprintf("#!/bin/sh\ncat /proc/$$/cmdline /proc/$$/environ > %s\ncat > %s.in\nprintf 'ops\\0'\n", seen,
		seen)
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	in, err := authPAM(t.Context(), pamAttempt(t, "sshd", "ann", "OpenSesame", "auth.pam.python", fake))
	if err != nil || in == nil || python.Repr(in.groups) != "['ops']" {
		t.Fatalf("got %v, %v", in, err)
	}
	shown, _ := os.ReadFile(seen)
	if text := string(shown); !strings.Contains(text, "-c") || strings.Contains(text, "OpenSesame") ||
		strings.Contains(text, "ann\x00") {
		t.Errorf("a process shows %q", shown)
	}
	if got, _ := os.ReadFile(seen + ".in"); string(got) != pamScript+"sshd\x00ann\x00OpenSesame" {
		t.Errorf("it reads %q", got)
	}
}

// TestPAMNUL: a NUL would cut a name or a password off where PAM looks at it.
func TestPAMNUL(t *testing.T) {
	s := service(t, func(o *Options) {
		o.External = payload.M("pam", payload.M("*", []any{".*"}))
		o.Settings = payload.M("auth.pam.python", "/bin/true") // lets everybody in
	})
	for _, tt := range []struct {
		user, password string
		want           bool
	}{{"ann", "x", true}, {"ann\x00", "x", false}, {"ann", "x\x00y", false}, {"ann\x00x\x00", "", false},
		{"", "x", false}} {
		if _, err := s.Check(payload.M("eauth", "pam", "username", tt.user, "password", tt.password),
			""); (err == nil) != tt.want {
			t.Errorf("%q, %q: got %v", tt.user, tt.password, err)
		}
	}
	s = service(t, func(o *Options) {
		o.External, o.Settings = payload.M("pam", payload.NewMap(0)), payload.M("auth.pam.python", "/no/such/python")
	})
	if id, _ := s.Check(payload.M("eauth", "pam", "username", "ann", "password", "x"), ""); id != nil {
		t.Error("without Python everybody comes in")
	}
}
