package engines

import (
	"strings"
	"testing"
)

// TestParse: the forms of the option, and what is refused by name.
func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, names, wrong string }{
		{"", "", ""},
		{"[]", "", ""},
		{"[test]", "test=test", ""},
		{"[test, test, {test: {}}]", "test=test test-2=test test-3=test", ""},
		{"{test: {}, webhook: {port: 8000}}", "test=test webhook=webhook", ""},
		{"[{a: {engine_module: script, cmd: x}}, {b: {engine_module: script, cmd: y, interval: 0.5, onchange: true, " +
			"output: yaml}}]", "a=script b=script", ""},
		{"[{'my/own one': {program: [/bin/true]}}]", "my_own_one=program", ""},
		{"[{slack_bolt: {program: /bin/true -v, app_token: x, events: ['*']}}]", "slack_bolt=program", ""},
		{"[reactor]", "reactor=reactor", ""},
		{"[{reactor: {refresh_interval: 5, worker_threads: 2, worker_hwm: 7}}]", "reactor=reactor", ""},
		{"[{reactor: {threads: 5}}]", "", "engine 'reactor': there is no option threads"},
		{"reactor", "", "neither a list nor a map"},
		{"[3]", "", "3 is neither a name nor a map"},
		{"[slack]", "", "engine 'slack': there is no engine slack here (there are http_logstash, reactor, script, " +
			"test, webhook); a program"},
		{"[{x: {engine_module: ircbot}}]", "", "there is no engine ircbot here"},
		{"[{script: null, cmd: x}]", "", "an entry with the names [script cmd]"},
		{"[{script: [cmd]}]", "", "engine 'script': its options are no map"},
		{"[script]", "", "engine 'script': option cmd is missing"},
		{"[{script: {cmd: x, speed: 1}}]", "", "there is no option speed"},
		{"[{script: {cmd: \"a 'b\"}}]", "", "is no command line"},
		{"[{script: {cmd: x, interval: soon}}]", "", "option interval with value soon is no number of seconds"},
		{"[{script: {cmd: x, interval: .nan}}]", "", "is no number of seconds"},
		{"[{script: {cmd: x, output: msgpack}}]", "", "output msgpack is not read yet"},
		{"[{script: {cmd: x, output: nonsense}}]", "", "Unknown serializer `nonsense` found for output option"},
		{"[{webhook: {port: 70000}}]", "", "is no port"},
		{"[{webhook: {ssl_crt: /x}}]", "", "ssl_crt and ssl_key belong together"},
		{"[{http_logstash: {}}]", "", "option url is missing"},
		{"[{http_logstash: {url: 'ftp://x'}}]", "", "is no URL of http or https"},
		{"[{test: {a: b}}]", "", "there is no option a"},
		{"[{x: {program: []}}]", "", "option program names none"},
		{"[{x: {program: [a, 3]}}]", "", "option program with value 3 is no text"},
		{"[{x: {program: a, env: [b]}}]", "", "is no map"},
		{"[slack, fluent]", "", "there is no engine fluent"},
	} {
		all, err := Parse(option(t, tt.text), "master")
		var names []string
		for _, n := range all {
			names = append(names, n.Name+"="+n.Module)
		}
		switch {
		case tt.wrong == "" && err != nil:
			t.Errorf("%s: %v", tt.text, err)
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.wrong)
		}
		if got := strings.Join(names, " "); got != tt.names {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.names)
		}
	}
}

// TestTuning: the options of the engine reactor.
func TestTuning(t *testing.T) {
	for _, role := range []string{"master", "minion"} {
		all, err := Parse(option(t, "[{reactor: {worker_threads: 2, worker_hwm: 0}}]"), role)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		if got, want := *all[0].Tuning, (ReactorTuning{-1, 2, 0}); got != want {
			t.Errorf("%s: got %v, want %v", role, got, want)
		}
	}
}

// TestParseExt: classes in Python are told, programs are made.
func TestParseExt(t *testing.T) {
	programs, python, err := ParseExt(option(t, "[my.module.Class, {sidecar: {program: [/bin/true], user: nobody}}, "+
		"{sidecar: {program: x}}]"))
	if err != nil || len(programs) != 2 || programs[0].Name != "sidecar" || programs[1].Name != "sidecar-2" ||
		len(python) != 1 || python[0] != "my.module.Class" {
		t.Errorf("got %v, %v, %v", programs, python, err)
	}
	for _, text := range []string{"[{a: {cmd: x}}]", "[{a: [x]}]", "x", "[1]"} {
		if p, _, err := ParseExt(option(t, text)); err == nil {
			t.Errorf("%s: got %v, want an error", text, p)
		}
	}
}
