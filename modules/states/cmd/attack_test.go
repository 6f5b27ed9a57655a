package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/states/statetest"
	"brine/wire/payload"
	"brine/wire/python"
)

// single runs one state; text is all that it returned, as JSON.
func single(t *testing.T, env *loader.Env, fun string, kw *payload.Map) (ret *payload.Map, text string) {
	t.Helper()
	v, _, err := modtest.Call(t, env, "state.single", []any{fun}, kw)
	if err != nil {
		t.Fatal(err)
	}
	rows, ok := v.(*payload.Map)
	if !ok { // the run refuses
		return payload.M("result", false, "comment", python.Str(v)), outputters.JSON(v)
	}
	for _, row := range rows.All() {
		ret, _ = row.(*payload.Map)
	}
	return ret, outputters.JSON(v)
}

// TestSecrets: what stands in the environment, on standard input or in hidden output is neither in the return nor in
// the log nor in the words of the program.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "t0p-s3cr3t"
	env, _ := statetest.Minion(t, nil, nil)
	log := &modtest.Log{}
	env.Host.Log = log
	show := `cat /proc/$$/cmdline | tr '\0' ' '`
	for name, kw := range map[string]*payload.Map{
		"env":    payload.M("name", show, "env", []any{payload.M("PASSWORD", secret)}),
		"stdin":  payload.M("name", "cat > /dev/null; "+show, "stdin", secret),
		"hidden": payload.M("name", "echo t0p-s3cr3t | rev | rev", "hide_output", true, "output_loglevel", "quiet"),
	} {
		_, text := single(t, env, "cmd.run", kw)
		if name == "hidden" {
			text = strings.ReplaceAll(text, "echo "+secret, "") // the command itself is told
		}
		if strings.Contains(text, secret) {
			t.Errorf("%s: the return has the secret: %s", name, text)
		}
	}
	for _, line := range log.Lines() {
		if strings.Contains(line, secret) {
			t.Errorf("the log has the secret: %s", line)
		}
	}
}

// TestFlood: an output that does not end is cut, and the state tells so.
func TestFlood(t *testing.T) {
	t.Parallel()
	env, _ := statetest.Minion(t, nil, payload.M("command_output_max_bytes", int64(10_000)))
	for fun, kw := range map[string]*payload.Map{
		"cmd.run":     payload.M("name", "yes | head -c 3000000"),
		"cmd.script":  payload.M("name", "x", "source", "salt://flood.sh"),
		"module.run":  payload.M("name", "cmd.run_all", "cmd", "yes | head -c 3000000", "python_shell", true),
		"cmd.run bad": payload.M("name", "yes | head -c 3000000; echo changed=yes", "stateful", true),
	} {
		if fun == "cmd.script" {
			dir := filepath.Dir(env.Opts().Str("cachedir")) + "/base"
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/flood.sh", []byte("#!/bin/sh\nyes | head -c 3000000\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ret, text := single(t, env, strings.TrimSuffix(fun, " bad"), kw)
		if len(text) > 30_000 || !strings.Contains(text, "cut here") {
			t.Errorf("%s: %d bytes, %v", fun, len(text), ret.Value("comment"))
		}
	}
}

// TestOdd: arguments that nobody means are errors that say so, and run nothing.
func TestOdd(t *testing.T) {
	t.Parallel()
	env, dir := statetest.Minion(t, nil, nil)
	mark := filepath.Join(dir, "w", "ran")
	for name, tt := range map[string]struct {
		kw   *payload.Map
		says string
	}{
		"user":      {payload.M("runas", "nosuchuser"), "User 'nosuchuser' is not available"},
		"group":     {payload.M("group", "nosuchgroup"), "Group 'nosuchgroup' is not available"},
		"directory": {payload.M("cwd", dir+"/none"), "is not available"},
		"env":       {payload.M("env", true), "Invalidly-formatted 'env' parameter"},
		"env name":  {payload.M("env", []any{payload.M("A=B", "x")}), "illegal environment variable name"},
		"env null":  {payload.M("env", []any{payload.M("A", "x\x00y")}), "embedded null byte"},
		"shell":     {payload.M("shell", "/nosuch"), "The shell /nosuch is not available"},
		"umask":     {payload.M("umask", "9z"), "Invalid umask"},
		"chroot":    {payload.M("root", dir+"/none"), ""},
		"tty":       {payload.M("tty", true), "not supported"},
	} {
		ret, _ := single(t, env, "cmd.run", tt.kw.Set("name", "touch "+mark))
		comment, _ := ret.Value("comment").(string)
		if ret.Value("result") != false || !strings.Contains(comment, tt.says) {
			t.Errorf("%s: %v, %q", name, ret.Value("result"), comment)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: the command ran", name)
			_ = os.Remove(mark)
		}
	}
}
