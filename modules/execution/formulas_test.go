package execution_test

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/pillar"
	"brine/wire/payload"
)

const (
	formulaCalls   = "testdata/formulas.txt"
	formulaAnswers = "testdata/formulas_3008.json"
)

// serveFormulas has the minion of a configuration directory serve itself the trees of testdata/formulas.
func serveFormulas(t *testing.T, dir string) {
	t.Helper()
	err := os.CopyFS(filepath.Join(dir, "formulas"), os.DirFS("testdata/formulas"))
	conf := filepath.Join(dir, "minion")
	text, readErr := os.ReadFile(conf)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	text = fmt.Appendf(text, "file_roots:\n  base: [%[1]s/formulas/states]\npillar_roots:\n  base: "+
		"[%[1]s/formulas/pillar]\n", dir)
	if err := os.WriteFile(conf, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// formulaEnv is what the functions of that minion run in: it compiles its own pillar.
func formulaEnv(t *testing.T, dir string, gather func(opts *payload.Map) *payload.Map) (*loader.Env, *modtest.Log) {
	t.Helper()
	env, log := ownEnv(t, dir, gather)
	own := pillar.NewOwn(env)
	env.Host.Secrets = own
	env.Pillar = sync.OnceValue(func() *payload.Map {
		v, err := own.Compile(t.Context(), loader.PillarQuery{})
		if err != nil {
			t.Error(err)
		}
		return v
	})
	return env, log
}

// TestRecordedFormulas renders four trees of formulas and compares with what Salt 3008.3 made of them.
func TestRecordedFormulas(t *testing.T) {
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Skip("the answers were taken as root")
	}
	dir := confDir(t)
	serveFormulas(t, dir)
	env, log := formulaEnv(t, dir, func(*payload.Map) *payload.Map { return recordedGrains(t, dir) })
	compareRecorded(t, env, log, dir, formulaCalls, formulaAnswers)
}
