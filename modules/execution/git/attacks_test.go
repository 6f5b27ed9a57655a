package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func minion(t *testing.T) *loader.Env {
	t.Helper()
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Table{cmdmod.Module, git.Module})
	return env
}

// TestNoOptions: what is given as a name is never an option of git, and nothing runs for it.
func TestNoOptions(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	evil := "--upload-pack=touch " + mark + ";"
	for _, call := range []struct {
		fun  string
		args []any
		kw   *payload.Map
	}{
		{"git.remote_refs", []any{evil}, nil},
		{"git.ls_remote", nil, payload.M("remote", evil)},
		{"git.fetch", []any{"/"}, payload.M("remote", evil)},
		{"git.fetch", []any{"/", "origin"}, payload.M("refspecs", []any{evil})},
		{"git.checkout", []any{"/", "--orphan=x"}, nil},
		{"git.branch", []any{"/", "-D"}, nil},
		{"git.tag", []any{"/", "v1", "-d"}, nil},
		{"git.merge", []any{"/", "--strategy=x"}, nil},
		{"git.rebase", []any{"/", "--exec=touch " + mark}, nil},
		{"git.remote_set", []any{"/", evil}, nil},
		{"git.push", []any{"/", "--receive-pack=touch " + mark, "x"}, nil},
		{"git.rev_parse", []any{"/", "--git-dir"}, nil},
		{"git.archive", []any{"/", "/tmp/x", "--exec=x"}, nil},
		{"git.config_get", []any{"--list"}, payload.M("cwd", "/")},
	} {
		_, _, err := modtest.Call(t, minion(t), call.fun, call.args, call.kw)
		if err == nil || !strings.Contains(err.Error(), "would be taken for an option") {
			t.Errorf("%s %v: got %v, want a refusal", call.fun, call.args, err)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an option was honoured")
	}
}

// TestNoCommandURL: the transport that runs a command is not allowed.
func TestNoCommandURL(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	for _, fun := range []string{"git.remote_refs", "git.clone"} {
		args := []any{"ext::sh -c touch% " + mark}
		if fun == "git.clone" {
			args = []any{filepath.Join(t.TempDir(), "x"), args[0]}
		}
		if _, _, err := modtest.Call(t, minion(t), fun, args, nil); err == nil {
			t.Errorf("%s: got no error", fun)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command of the URL has run")
	}
}

// TestPasswordIsHidden: a user and a password are in the environment of git alone, which its helper answers from, and
// for their host only.
func TestPasswordIsHidden(t *testing.T) {
	dir := t.TempDir()
	fake := `#!/bin/sh
{
	echo "argv: $*"
	"$GIT_ASKPASS" "Username for 'https://example.com': "
	"$GIT_ASKPASS" "Password for 'https://me@example.com': "
	"$GIT_ASKPASS" "Password for 'https://me@evil.example.org': " || echo refused
	ls -ld "$GIT_ASKPASS" | cut -c1-10
} > ` + dir + `/said
echo "fatal: https://me:s3cret@example.com/x is away" >&2
exit 1
`
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, _, err := modtest.Call(t, minion(t), "git.clone", []any{filepath.Join(dir, "x"), "https://example.com/x"},
		payload.M("https_user", "me", "https_pass", "s3cret"))
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want an error without the password", err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	want := "argv: clone -- https://example.com/x " + filepath.Join(dir, "x") + "\nme\ns3cret\nrefused\n-r-x------\n"
	if got := string(said); got != want {
		t.Errorf("git was asked\n%s\nwant\n%s", got, want)
	}
	if left, _ := filepath.Glob(os.TempDir() + "/__salt.tmp.git.*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestLogin: what is a login, and for which URLs.
func TestLogin(t *testing.T) {
	for _, tt := range []struct {
		url, plain string
		user       any
		login, bad bool
	}{
		{"https://example.com/x", "https://example.com/x", nil, false, false},
		{"https://example.com/x", "https://example.com/x", "me", true, false},
		{"https://me:pw@example.com/x", "https://example.com/x", nil, true, false},
		{"https://me@example.com/x", "https://me@example.com/x", nil, false, false},
		{"http://example.com/x", "", "me", false, true},
		{"git@example.com:x", "git@example.com:x", nil, false, false},
		{"/srv/x", "", "me", false, true},
	} {
		plain, login, err := git.LoginOf(tt.url, tt.user, nil)
		if plain != tt.plain || (login != nil) != tt.login || (err != nil) != tt.bad {
			t.Errorf("%s, %v: got %q, %v, %v", tt.url, tt.user, plain, login, err)
		}
	}
}
