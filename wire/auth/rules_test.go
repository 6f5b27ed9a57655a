package auth

import (
	"strings"
	"testing"

	"brine/wire/payload"
)

func TestPatterns(t *testing.T) {
	var p patterns
	for _, tt := range []struct {
		line string
		yes  string // ids that match, and ids that do not, separated by blanks
		no   string
	}{
		{"web1", "web1", "web10 Web1 aweb1"},
		{"web1.example.com", "web1.example.com web1xexample.com", "web1.example.co web1.example.comm"},
		{"web*", "web web1 web1.example.com", "aweb"},
		{"web?", "web1 webx web we", "web10 w"}, // the last two as an expression
		{"web[1-3]", "web1 web3", "web4 web[1-3]x"},
		{"web[!1-3]", "web4 web1", "web web44"}, // web1 as an expression
		{"web[^1-3]", "web4 web^ web1", "web"},  // a set with ^ for fnmatch, a negated one as expression
		{"web[]]", "web]", "web["},
		{"web[", "web[", "web"},
		{`web\d+`, "web1 web123", "web web1a"},
		{`web\d+|db\d`, "web12 db1", "web12x xdb1 db12"},
		{`^web1$`, "web1", "web12"},
		{`(?!bad).*[.]lan`, "good.lan", "bad.lan good.lan.x"},
		{`web(`, "web(", "web"},
		{`.*\Z`, "x", ""},
		{"***", "x", ""},
		{"ü*", "ü1", "u1"},
	} {
		for _, id := range strings.Fields(tt.yes) {
			if !p.match(tt.line, id) {
				t.Errorf("%q does not match %q", tt.line, id)
			}
		}
		for _, id := range strings.Fields(tt.no) {
			if p.match(tt.line, id) {
				t.Errorf("%q matches %q", tt.line, id)
			}
		}
	}
	if p.match(`(a+)+b`, strings.Repeat("a", 300)) || p.match("*", strings.Repeat("a", 300)) {
		t.Error("an id that cannot be a file name matches")
	}
}

func TestPatternsAreBounded(t *testing.T) {
	var p patterns
	for i := range 2 * maxPatterns {
		p.match("w*"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26), "web")
	}
	if n := len(p.lines); n == 0 || n > maxPatterns {
		t.Errorf("%d compiled lines are kept", n)
	}
}

func TestRules(t *testing.T) {
	files := memFiles{
		"autosign":   {"# web1", "", "db*"},
		"autoreject": {"bad*", "db9"},
		"grains/os":  {"# a comment", "Debian", "12"},
		"grains/dc":  {"True"},
	}
	hanging := memFiles{"hanging autoreject": {}}
	rules := Rules{AutosignFile: "autosign", AutorejectFile: "autoreject", GrainsDir: "grains", Files: files}
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
		{"no files", Rules{AutosignFile: "autosign", AutorejectFile: "autoreject", GrainsDir: "grains"}, "db1", payload.M("os", "Debian"), false, false, false},
		{"accept all", Rules{AcceptAll: true}, "web1", nil, false, false, true},
		{"listed", rules, "db1", nil, false, false, true},
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
		{"a list of rejected ids that hangs", Rules{AcceptAll: true, AutorejectFile: "autoreject", Files: hanging}, "web1", nil, true, false, false},
		{"a list of ids that hangs", Rules{AutosignFile: "autoreject", Files: hanging}, "web1", nil, false, false, false},
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
