package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"brine/cmd/session"
)

// hostileText tries to fill the clipboard, set the title, clear the screen, overwrite its line, and reverse the
// text that follows.
const hostileText = "a\x1b]52;c;QQ==\a\x1b[2Jb\u009b2J\x7f\b\rc\u202ed"

// TestTerminalOutput runs tools on a terminal and with pipes. A text from another machine cannot control the
// terminal. In a pipe the output is Salt's.
func TestTerminalOutput(t *testing.T) {
	s := newGoldenSite(t)
	for _, argv := range [][]string{
		{"salt-call", "--local", "test.echo", hostileText},
		{"salt-call", "--local", "--out=txt", "test.echo", hostileText},
		{"salt-call", "--local", "--out=json", "test.echo", hostileText},
		{"salt-call", "--local", "--out=raw", "test.kwarg", "x=" + hostileText},
		{"salt-call", "--local", "--force-color", "test.kwarg", "x=" + hostileText},
		{"salt-call", "--local", "-l", "debug", "test.no" + hostileText},
		{"salt-key", "-y", "-a", hostileText},
		{"salt-key", "-" + hostileText[1:]},
		{"salt-run", "test.arg", hostileText},
	} {
		text := s.shownBy(t, true, argv)
		bare := text
		for _, code := range []string{"0;0", "0;32", "0;36", "0;31", "0;1;31", "0;1;33"} {
			bare = strings.ReplaceAll(bare, "\x1b["+code+"m", "")
		}
		if !strings.Contains(text, "]52;c;QQ==") && !strings.Contains(text, `-\x1b`) || strings.ContainsFunc(bare,
			controls) {
			t.Errorf("%q on a terminal: %q", argv, text)
		}
	}
	if text := s.shownBy(t, false, []string{"salt-call", "--local", "--out=txt", "test.echo",
		hostileText}); text != "local: "+strings.ReplaceAll(hostileText, "\r", "\nlocal: ")+"\n" {
		t.Errorf("into a pipe: %q", text)
	}
}

func controls(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) || r == '\u202e' }

// shownBy returns the output of a tool to stdout and stderr, which are both a terminal or both a pipe.
func (s *goldenSite) shownBy(t *testing.T, onTerminal bool, argv []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), casePatience)
	defer cancel()
	config := "keys"
	if argv[0] == "salt-call" {
		config = "local"
		s.write(t, s.root+"/local/minion", "id: here\nroot_dir: "+s.root+"/local\nuser: "+session.RunningUser()+
			"\nfile_client: local\n")
	}
	cmd, err := s.command(ctx, config, argv...)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	wait := func() {}
	if onTerminal {
		terminal, arrived := openTerminal(t, &out)
		cmd.Stdout, cmd.Stderr = terminal, terminal
		wait = func() { terminal.Close(); arrived() }
	}
	err = cmd.Run()
	wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String()
}
