package saltrun

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/masterlink"
	"brine/modules/loader"
	"brine/wire/payload"
)

// TestNoMasterBeside: functions that need the master's files say what is missing, as Salt 3008.3 does.
func TestNoMasterBeside(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "master"), []byte("root_dir: "+dir+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := &loader.Env{Opts: func() *payload.Map { return payload.M("conf_file", filepath.Join(dir, "minion")) }}
	OfferMaster(slog.New(slog.DiscardHandler))(env)
	h := env.Host

	missing := "FileNotFoundError: [Errno 2] No such file or directory: '" + filepath.Join(dir,
		"var/cache/salt/master/proc") + "/"
	text, err := h.Runner.Run(t.Context(), loader.MasterRun{Fun: "test.arg", Args: []any{"x"}}, false)
	if s, _ := text.(string); err != nil || !strings.HasPrefix(s, "Exception occurred in runner test.arg: Traceback") ||
		!strings.Contains(s, missing) {
		t.Errorf("runner: %v, %v", text, err)
	}
	for what, run := range map[string]func() (any, error){
		"runner.test.arg": func() (any, error) {
			return h.Runner.Run(t.Context(), loader.MasterRun{Fun: "test.arg", KW: payload.M("k", 1)}, true)
		},
		"wheel.key.list_all": func() (any, error) {
			return h.Wheel.Wheel(t.Context(), loader.MasterRun{Fun: "key.list_all"})
		},
	} {
		v, err := run()
		m, _ := v.(*payload.Map)
		if code, _ := m.Int("retcode"); err != nil || m.Str("fun") != what || m.Value("success") != false ||
			code != 1 || !strings.Contains(m.Str("return"), missing) {
			t.Errorf("%s: %v, %v", what, v, err)
		}
	}
	for _, run := range []func() (any, error){
		func() (any, error) { return h.Runner.Run(t.Context(), loader.MasterRun{Fun: "nosuch.fun"}, false) },
		func() (any, error) { return h.Wheel.Wheel(t.Context(), loader.MasterRun{Fun: "nosuch.fun"}) },
	} {
		if _, err := run(); err == nil || loader.ClassOf(err) != "KeyError" {
			t.Errorf("unknown function: %v", err)
		}
	}
	if _, err := h.Local.Cmd(t.Context(), loader.LocalCmd{Tgt: "*", Fun: "test.ping"}); err == nil ||
		err.Error() != masterlink.TextMasterDown ||
		loader.ClassOf(err) != "salt.exceptions.SaltClientError" {
		t.Errorf("cmd: %v", err)
	}
}
