package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"brine/cmd/session"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary act as brine and as every tool. The scripts and the recorded cases start
// processes of these names.
func TestMain(m *testing.M) {
	commands := map[string]func(){"brine": main}
	for _, t := range tools() {
		if t.link || t.hidden {
			commands[t.name] = main
		}
	}
	testscript.Main(m, commands)
}

// TestScripts runs testdata/script. The command "config DIR" writes DIR/master and DIR/minion. Their root_dir
// is inside the script's directory.
func TestScripts(t *testing.T) {
	recorded, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("COLUMNS", "80")
			e.Setenv("RECORDED", recorded)
			return nil
		},
		Cmds: scriptCommands(),
	})
}

func writeConfig(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: config DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	text := fmt.Sprintf("root_dir: %s\nuser: %s\n", ts.MkAbs("root"), session.RunningUser())
	for _, name := range []string{"master", "minion"} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}

func TestToolNames(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range tools() {
		if seen[tool.name] || tool.what == "" || tool.run == nil {
			t.Errorf("tool %q stands twice or lacks something", tool.name)
		}
		seen[tool.name] = true
	}
}
