package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"brine/cmd/tool"
)

// goldenCase is one recorded run of a real tool. Its place is testdata/cli, its description fixture.json.
type goldenCase struct {
	ID         string
	Argv       []string
	Config     string // keys: the key store without a master; master, web1, ...: a running fleet
	Setup      string
	Stdin      *string
	Terminal   bool    `json:"stdout_is_terminal"`
	RunAs      string  `json:"run_as"`
	SIGINT     float64 `json:"send_SIGINT_after_s"`
	Order      string
	OutputFile string `json:"output_file"`
	Concerns   string
	Expect     map[string]*outcome
	Accept     map[string]json.RawMessage // an outcome, or the name of the release it equals
}

// outcome is the output and the exit code of a run.
type outcome struct {
	Stdout, Stderr string
	Exit           int
	File           string // content of the output file
}

// goldenBin is the bin directory of a real Salt to be tested in place of brine. This checks the test itself.
func goldenBin() string { return os.Getenv("BRINE_GOLDEN_BIN") }

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/cli", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// accepted lists the outcomes that pass, newest release first.
func (c *goldenCase) accepted(t *testing.T) []*outcome {
	t.Helper()
	list := []*outcome{c.Expect["3008"]}
	for _, release := range []string{"3007", "3006"} {
		var alias string
		raw, ok := c.Accept[release]
		if !ok || json.Unmarshal(raw, &alias) == nil {
			continue
		}
		o := &outcome{}
		if err := json.Unmarshal(raw, o); err != nil {
			t.Fatalf("%s, %s: %v", c.ID, release, err)
		}
		list = append(list, o)
	}
	return list
}

// alone tells whether the case needs no running daemon.
func (c *goldenCase) alone() bool {
	exit := c.Expect["3008"].Exit
	return c.Config == "keys" || c.Concerns == "version" && c.Argv[1] == "--version" || exit == tool.ExitUsage ||
		exit == tool.ExitMissing && c.Argv[0] == "salt" || slices.Contains(c.Argv, "--local") &&
		!slices.Contains(c.Argv, "event.fire")
}

// TestGolden runs every recorded case of Salt's tools that brine can answer by now, against a brine master and
// brine minions. `go test -v -run TestGolden ./cmd/brine` lists the cases that have to wait, with the reasons.
func TestGolden(t *testing.T) {
	t.Parallel()
	runGolden(t, "", "salt-key", "daemons", "salt", "salt-call", "salt-run", "salt-cp")
}

// runGolden runs the cases of some tools. daemons is the bin directory of the Salt whose master and minions
// run, or "" for brine's own.
func runGolden(t *testing.T, daemons string, tools ...string) {
	t.Helper()
	for _, name := range tools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var file struct{ Cases []goldenCase }
			readGolden(t, name+".json", &file)
			fleet := sync.OnceValues(func() (*goldenSite, error) { return startFleet(t, daemons) })
			waiting := map[string][]string{} // reason → cases
			for _, c := range file.Cases {
				if why := c.waits(daemons); why != "" {
					waiting[why] = append(waiting[why], c.ID)
					continue
				}
				t.Run(c.ID, func(t *testing.T) {
					if c.alone() {
						t.Parallel()
						c.judge(t, newGoldenSite(t))
						return
					}
					site, err := fleet()
					if err != nil {
						t.Fatal(err)
					}
					c.judge(t, site)
				})
			}
			for why, ids := range waiting {
				t.Logf("%d of %d cases wait, %s: %s", len(ids), len(file.Cases), why, strings.Join(ids, ", "))
			}
		})
	}
}

// judge runs a case and compares.
func (c *goldenCase) judge(t *testing.T, s *goldenSite) {
	if c.RunAs != "" && os.Getuid() != 0 {
		t.Skip("needs root to become " + c.RunAs)
	}
	undo := s.setUp(t, c)
	defer undo()
	got := s.run(t, c)
	var report strings.Builder
	for _, want := range c.accepted(t) {
		diff := s.compare(c, want, got)
		if diff == "" {
			return
		}
		fmt.Fprintf(&report, "\n--- against an accepted outcome: %s", diff)
	}
	t.Errorf("%s\nexit %d, stdout:\n%s\nstderr:\n%s%s", strings.Join(c.Argv, " "), got.Exit, got.Stdout, got.Stderr,
		report.String())
}
