package renderers

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

// keyring makes a directory with a key in it, and encrypts for it.
func keyring(t *testing.T) (dir string, encrypt func(string) string) {
	t.Helper()
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("gpg is not installed: ", err)
	}
	dir, err := os.MkdirTemp("/tmp", "gpg") // short, whatever TMPDIR is: gpg's sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	gpg := func(input string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "gpg", append([]string{"--homedir", dir, "--batch", "--quiet",
			"--no-tty"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gpg %q: %v", args, err)
		}
		return string(out)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", dir, "--kill", "all").Run()
		_ = os.RemoveAll(dir)
	})
	gpg("", "--passphrase", "", "--quick-generate-key", "brine@example.org", "future-default", "default", "never")
	return dir, func(text string) string {
		return gpg(text, "--armor", "--trust-model", "always", "--encrypt", "-r", "brine@example.org")
	}
}

func TestGPG(t *testing.T) {
	dir, encrypt := keyring(t)
	lock := filepath.Join(dir, ".#lk0x000055d0c0ffee00.host.999999999")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var warned []string
	opt := Options{GPG: GPG{KeyDir: func() string { return dir }, MustSucceed: true},
		Log: func(_ slog.Level, text string) { warned = append(warned, text) }}
	compile := func(in Input) string { return answer(New(opt).Compile(t.Context(), "yaml|gpg", in)) }

	secret := encrypt("secret\n\n")
	block := "a: |\n  " + strings.ReplaceAll(strings.TrimSpace(secret), "\n", "\n  ") + "\nb: [x, 1]\n"
	if got := compile(Input{Template: InString, Data: block}); got != "{str a=>str secret|str b=>[str x|int 1]}" {
		t.Errorf("a block: got %s", got)
	}
	line := "a: 'x " + strings.ReplaceAll(strings.TrimSpace(secret), "\n", `\n`) + " y'"
	if got := compile(Input{Template: InString, Data: line}); got != "{str a=>str x secret\n\n y}" {
		t.Errorf("in a line: got %s", got)
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("a lock of a process that is gone is still there: %v", err)
	}
	if got := compile(Input{Template: InString, Data: `a: 'x\ny'`, KW: payload.M("translate_newlines",
		true)}); got != "{str a=>str x\ny}" {
		t.Errorf("translate_newlines: got %s", got)
	}

	broken := "a: |\n  -----BEGIN PGP MESSAGE-----\n  nonsense\n  -----END PGP MESSAGE-----\n"
	want := `error SaltRenderError: Could not decrypt cipher b'-----BEGIN PGP MESSAGE-----\nnonsense\n-----END PGP MESSAGE-----', received: b'`
	if got := compile(Input{Template: InString, Data: broken}); !strings.HasPrefix(got, want) {
		t.Errorf("nonsense: got %s, want %s...", got, want)
	}
	opt.GPG.MustSucceed = false
	if got := compile(Input{Template: InString, Data: broken}); got != "{str a=>str -----BEGIN PGP "+
		"MESSAGE-----\nnonsense\n-----END PGP MESSAGE-----}" {
		t.Errorf("nonsense that may stay: got %s", got)
	}
	if len(warned) != 1 || !strings.HasPrefix(warned[0], "Could not decrypt cipher b'") {
		t.Errorf("got warnings %q", warned)
	}
}
