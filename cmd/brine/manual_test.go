package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tool"
)

// callTool runs a tool and returns what it prints.
func callTool(t *testing.T, run func(*tool.Call) error, args ...string) string {
	t.Helper()
	var out strings.Builder
	c := &tool.Call{Prog: "test", Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard}
	defer c.End()
	if err := run(c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestManual: the page of every tool names all its options.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	callTool(t, manual, dir)
	for _, p := range shown() {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(p.fullName(), " ", "-")+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		own, err := p.commandLine()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(page), `\-`, "-")
		for _, flag := range own.Flags() {
			if !strings.Contains(text, flag) {
				t.Errorf("the page of %s lacks %s", p.fullName(), flag)
			}
		}
	}
	for line := range strings.Lines(overview()) {
		if strings.HasPrefix(line, "'") {
			t.Errorf("a line that man takes for a command: %s", line)
		}
	}
}

// TestCompletion starts a bash that has read the completion, and completes words with it.
func TestCompletion(t *testing.T) {
	script := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(script, []byte(callTool(t, completion)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ typed, want string }{
		{"salt-key --accept", "--accept --accept-all"},
		{"/usr/bin/salt-minion --disable", "--disable-keepalive"},
		{"brine tr", "tree trace"},
		{"brine tree --wa", "--watch"},
		{"brine nosuch --wa", ""},
		{"salt web", ""}, // bash completes files here
	} {
		ask := `. "$0"; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _brine "${COMP_WORDS[0]}"; echo "${COMPREPLY[*]}"`
		out, err := exec.Command("bash", "-c", ask, script, tt.typed).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.typed, got, err, tt.want)
		}
	}
}
