package absent_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/execution"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/modules/wheel"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write absent.txt anew")

// head stands above the list.
const head = `# Functions of Salt 3008.3 that brine does not have yet, sorted: a line for each, or one for a module of which it has none.
# Made by: go test ./modules/absent -update
`

// has are the functions that brine has, on whatever machine.
func has(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	registries := map[string]*loader.Registry{absent.Execution: execution.Machine{}.Functions(),
		absent.Runner: loader.NewRegistry(), absent.Wheel: loader.NewRegistry(),
		absent.State: loader.NewRegistry()}
	registries[absent.State].Offer(all.States())
	registries[absent.Runner].Offer(all.Runners(runners.Options{}))
	registries[absent.Wheel].Offer(all.Wheel(wheel.Options{}))
	for kind, reg := range registries {
		for _, name := range reg.Names() {
			out[kind+" "+name] = true
		}
	}
	return out
}

// missing lists what Salt has and brine does not: functions, or modules where it has none of one.
func missing(salt []string, has map[string]bool) (out []string) {
	some := map[string]bool{} // modules of which brine has a function
	for name := range has {
		mod, _, _ := strings.Cut(name, ".")
		some[mod] = true
	}
	for _, name := range salt {
		mod, _, _ := strings.Cut(name, ".")
		switch {
		case has[name]:
		case some[mod]:
			out = append(out, name)
		default:
			out = append(out, mod)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestAbsences: each function of Salt 3008.3 (testdata/functions.py) is here or named as absent, and nothing that is
// here is.
func TestAbsences(t *testing.T) {
	salt, err := os.ReadFile("testdata/functions_3008.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(salt)), "\n")
	if len(all) < 2000 {
		t.Fatalf("Salt has %d functions only", len(all))
	}
	want := missing(all, has(t))
	text := head + strings.Join(want, "\n") + "\n"
	if *update {
		if err := os.WriteFile("absent.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile("absent.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(string(is), "\n")); diff != "" {
		t.Errorf("go test ./modules/absent -update, and look at what has changed (-wanted +absent.txt)\n%s", diff)
	}
}

// TestSentence names what is absent, and nothing else.
func TestSentence(t *testing.T) {
	for _, tt := range []struct{ kind, name, want string }{
		{absent.Runner, "cluster.members", "brine does not have the runner module 'cluster' yet."},
		{absent.Runner, "cluster", "brine does not have the runner module 'cluster' yet."},
		{absent.Execution, "sys.nosuch", ""},
		{absent.Execution, "test.ping", ""},
		{absent.Execution, "test", ""},
		{absent.Execution, "win_wua.list", ""},
		{absent.Wheel, "cluster.members", ""},
		{absent.Runner, "", ""},
	} {
		if got := absent.Sentence(tt.kind, tt.name); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.kind, tt.name, got, tt.want)
		}
	}
}
