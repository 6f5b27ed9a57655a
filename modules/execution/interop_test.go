//go:build interop

package execution_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/modules/all"
	"brine/modules/grains"
	"brine/modules/modtest"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

var record = flag.Bool("record", false, "write what Salt answers to testdata/*_3008.json")

func writeRecord(t *testing.T, file string, calls []oneCall, answers []answer, dir string) {
	t.Helper()
	out := map[string]json.RawMessage{}
	for i, c := range calls {
		if c.mark != 0 {
			continue
		}
		b, err := json.Marshal(answers[i])
		if err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprintf("%03d %s %q", i, c.fun, c.words)] = bytes.ReplaceAll(b, []byte(dir), []byte("DIR"))
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAgainstSalt runs testdata/calls.txt in an installed Salt 3008 and here, each in a configuration directory of
// its own, and compares values, exit codes, errors and log lines.
func TestAgainstSalt(t *testing.T) {
	calls := readCalls(t, "testdata/calls.txt")
	theirs, ours := confDir(t), confDir(t)
	real := runSalt(t, theirs, calls)
	began := time.Now()
	env, log := ownEnv(t, ours, func(opts *payload.Map) *payload.Map {
		return grains.New(grains.Options{Version: "3008.3", Opts: opts}, all.Grains()).Map()
	})
	for i, c := range calls {
		c.words = inDir(c.words, ours)
		got := runHere(t, env, log, c)
		want := strings.ReplaceAll(real[i].String(), theirs, ours)
		if c.mark == '~' {
			continue
		}
		if got := got.String(); got != want && !samePID(got, want) {
			t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, want)
		}
	}
	if *record {
		writeRecord(t, "testdata/answers_3008.json", calls, real, theirs)
	}
	t.Logf("%d calls in %s", len(calls), time.Since(began).Round(time.Millisecond))
	a, _ := os.ReadFile(filepath.Join(theirs, "grains"))
	b, _ := os.ReadFile(filepath.Join(ours, "grains"))
	if !bytes.Equal(a, b) {
		t.Errorf("grains file:\n%s\nSalt's:\n%s", b, a)
	}
}

// TestPackagesAgainstSalt does the same with the packages of a system that is made for it.
func TestPackagesAgainstSalt(t *testing.T) {
	calls := readCalls(t, packageCalls)
	theirs, ours := confDir(t), confDir(t)
	installPackages(t, theirs)
	real := runSalt(t, theirs, calls)
	if *record {
		writeRecord(t, packageAnswers, calls, real, theirs)
	}
	installPackages(t, ours)
	env, log := ownEnv(t, ours, func(opts *payload.Map) *payload.Map {
		return grains.New(grains.Options{Version: "3008.3", Opts: opts}, all.Grains()).Map()
	})
	for i, c := range calls {
		c.words = inDir(c.words, ours)
		got, want := runHere(t, env, log, c).String(), strings.ReplaceAll(real[i].String(), theirs, ours)
		if got != want && c.mark == 0 {
			t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, want)
		}
	}
}

func runSalt(t *testing.T, dir string, calls []oneCall) []answer {
	t.Helper()
	python := modtest.SaltProgram(t, "3008", "python")
	var in bytes.Buffer
	for _, c := range calls {
		line, err := json.Marshal([]any{c.fun, inDir(c.words, dir)})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/salt_driver.py", filepath.Join(dir, "minion"))
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("salt driver: %v", err)
	}
	var answers []answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(calls) {
		t.Fatalf("%d answers to %d calls", len(answers), len(calls))
	}
	return answers
}

// TestFilesAgainstSalt does the same with module cp, and compares the caches.
func TestFilesAgainstSalt(t *testing.T) {
	calls := readCalls(t, fileCalls)
	theirs, ours := confDir(t), confDir(t)
	serveFiles(t, theirs)
	real := runSalt(t, theirs, calls)
	if *record {
		writeRecord(t, fileAnswers, calls, real, theirs)
	}
	serveFiles(t, ours)
	env, log := ownEnv(t, ours, func(opts *payload.Map) *payload.Map {
		return grains.New(grains.Options{Version: "3008.3", Opts: opts}, all.Grains()).Map()
	})
	for i, c := range calls {
		c.words = inDir(c.words, ours)
		got, want := runHere(t, env, log, c).String(), strings.ReplaceAll(real[i].String(), theirs, ours)
		if got != want && c.mark == 0 && !samePID(got, want) {
			t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, want)
		}
	}
	for _, sub := range []string{"got", "root/var/cache/salt/minion/files", "root/var/cache/salt/minion/localfiles",
		"root/var/cache/salt/minion/extrn_files"} {
		if diff := cmp.Diff(layout(t, theirs, sub), layout(t, ours, sub)); diff != "" {
			t.Errorf("%s: Salt -, brine +\n%s", sub, diff)
		}
	}
}

// TestFormulasAgainstSalt does the same with the trees of testdata/formulas.
func TestFormulasAgainstSalt(t *testing.T) {
	calls := readCalls(t, formulaCalls)
	theirs, ours := confDir(t), confDir(t)
	serveFormulas(t, theirs)
	real := runSalt(t, theirs, calls)
	if *record {
		writeRecord(t, formulaAnswers, calls, real, theirs)
	}
	serveFormulas(t, ours)
	env, log := formulaEnv(t, ours, func(opts *payload.Map) *payload.Map {
		return grains.New(grains.Options{Version: "3008.3", Opts: opts}, all.Grains()).Map()
	})
	for i, c := range calls {
		got, want := runHere(t, env, log, c).String(), strings.ReplaceAll(real[i].String(), theirs, ours)
		if got != want && c.mark == 0 {
			t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, want)
		}
	}
}

// layout maps what lies below a folder to its content, and to what its owner may do with it: others may do less here.
func layout(t *testing.T, dir, sub string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, sub), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel := strings.ReplaceAll(strings.TrimPrefix(path, dir), dir, "DIR")
		if out[rel] = (info.Mode() &^ 0o077).String(); !d.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] += " " + string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMachineAgainstSalt does the same with what templates ask of the machine.
func TestMachineAgainstSalt(t *testing.T) {
	calls := readCalls(t, machineCalls)
	theirs, ours := confDir(t), confDir(t)
	furnish(t, theirs)
	real := runSalt(t, theirs, calls)
	if *record {
		writeRecord(t, machineAnswers, calls, real, theirs)
	}
	furnish(t, ours)
	env, log := ownEnv(t, ours, func(opts *payload.Map) *payload.Map {
		return grains.New(grains.Options{Version: "3008.3", Opts: opts}, all.Grains()).Map()
	})
	for i, c := range calls {
		c.words = inDir(c.words, ours)
		got, want := runHere(t, env, log, c).String(), strings.ReplaceAll(real[i].String(), theirs, ours)
		if got != want && c.mark != '~' && !samePID(got, want) {
			t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, want)
		}
	}
}
