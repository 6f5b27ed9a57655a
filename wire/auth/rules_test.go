package auth

import (
	"errors"
	"strings"
	"testing"

	"brine/wire/payload"
)

// startsWith is a Matcher: a line matches the ids that begin with it; for a line "slow" the answer is uncertain.
type startsWith struct{}

func (startsWith) Any(lines []string, id string) (hit bool, err error) {
	for _, line := range lines {
		if line == "slow" {
			err = errors.New("it takes too long")
		} else if line != "" && line[0] != '#' && strings.HasPrefix(id, strings.TrimSuffix(line, "*")) {
			return true, nil
		}
	}
	return false, err
}

func TestRules(t *testing.T) {
	files := memFiles{
		"autosign":   {"# web1", "", "db*"},
		"autoreject": {"bad*", "db9"},
		"grains/os":  {"# a comment", "Debian", "12"},
		"grains/dc":  {"True"},
	}
	hanging := memFiles{"hanging autoreject": {}}
	slow := memFiles{"autosign": {"slow", "db*"}, "autoreject": {"slow", "bad*"}}
	of := func(r Rules, f memFiles) Rules { // rules that are read from files
		r.Files, r.Matcher = f, startsWith{}
		return r
	}
	rules := of(Rules{AutosignFile: "autosign", AutorejectFile: "autoreject", GrainsDir: "grains"}, files)
	signing, rejecting := Rules{AutosignFile: "autosign"}, Rules{AcceptAll: true, AutorejectFile: "autoreject"}
	for _, tt := range []struct {
		name   string
		rules  Rules
		id     string
		grains *payload.Map
		stub   bool
		reject bool
		sign   bool
	}{
		{"nothing set", Rules{}, "web1", nil, false, false, false},
		{"no files", Rules{AutosignFile: "autosign", AutorejectFile: "autoreject", GrainsDir: "grains"}, "db1",
			payload.M("os", "Debian"), false, false, false},
		{"accept all", Rules{AcceptAll: true}, "web1", nil, false, false, true},
		{"listed", rules, "db1", nil, false, false, true},
		{"behind a slow line", of(signing, slow), "db1", nil, false, false, true},
		{"a slow line", of(signing, slow), "web1", nil, false, false, false},
		{"rejected behind a slow line", of(rejecting, slow), "bad1", nil, false, true, false},
		{"a slow line that may reject", of(rejecting, slow), "web1", nil, true, false, false},
		{"a comment", rules, "web1", nil, false, false, false},
		{"# web1", rules, "# web1", nil, false, false, false},
		{"in both lists", rules, "db9", nil, false, true, false},
		{"stub", rules, "web1", nil, true, false, true},
		{"stub of a rejected id", rules, "bad1", nil, true, true, false},
		{"grain", rules, "web1", payload.M("os", "Debian"), false, false, true},
		{"number", rules, "web1", payload.M("os", 12), false, false, true},
		{"bool", rules, "web1", payload.M("dc", true), false, false, true},
		{"other value", rules, "web1", payload.M("os", "Arch", "dc", false), false, false, false},
		{"a comment as value", rules, "web1", payload.M("os", "# a comment"), false, false, false},
		{"a list", rules, "web1", payload.M("os", []any{"Debian"}), false, false, false},
		{"a list of rejected ids that hangs", of(rejecting, hanging), "web1", nil, true, false, false},
		{"a list of ids that hangs", of(Rules{AutosignFile: "autoreject"}, hanging), "web1", nil, false, false, false},
		{"a grain without a file", rules, "web1", payload.M("role", "Debian"), false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMaster(t, func(o *MasterOptions) { o.Rules = tt.rules })
			m.keys.stubs[tt.id] = tt.stub
			reject, sign := m.ask(signInRequest{id: tt.id, grains: tt.grains})
			if reject != tt.reject || sign != tt.sign {
				t.Errorf("got reject %v, sign %v", reject, sign)
			}
			if tt.stub && m.keys.stubs[tt.id] == sign {
				t.Error("a stub counts once, and not for a rejected id")
			}
		})
	}
}
