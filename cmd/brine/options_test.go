package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"brine/cmd/optparse"
)

// everyOption declares every set of options that fits on one command line, as salt has it.
func everyOption() *optparse.Parser {
	c := &call{prog: "salt", stdout: io.Discard, stderr: io.Discard}
	p := c.parser("%prog [options] '<target>' <function> [arguments]", "")
	addConfigDir(p)
	addUser(p)
	addHardCrash(p)
	addNoParse(p)
	addArgsStdin(p)
	addTimeout(p, 5)
	addJID(p)
	addLogging(p, true, "log_file", "/var/log/salt/master")
	addOutput(p, true)
	addEauth(p, true)
	addProfiling(p)
	addTargets(p, true)
	return p
}

func TestTargetType(t *testing.T) {
	for _, tt := range []struct{ argv, want, fault string }{
		{"*", "glob", ""},
		{"-E x", "pcre", ""},
		{"-G os:x", "grain", ""},
		{"-P os:x", "grain_pcre", ""},
		{"-N x", "nodegroup", ""},
		{"--pillar-pcre x", "pillar_pcre", ""},
		{"-S 10.0.0.0/8", "ipcidr", ""},
		{"-E -G x", "", "The options --pcre/--grain are mutually exclusive. Please only choose one of them"},
		{"-C -I -L x", "", "The options --list/--compound/--pillar are mutually exclusive. Please only choose one of them"},
	} {
		p := everyOption()
		v, err := p.Parse(strings.Fields(tt.argv))
		if err != nil {
			t.Errorf("%s: %v", tt.argv, err)
			continue
		}
		got, err := targetType(p, v)
		var usage *optparse.UsageError
		if got != tt.want || tt.fault != "" && (!errors.As(err, &usage) || usage.Text != tt.fault) {
			t.Errorf("%s: %q, %v", tt.argv, got, err)
		}
	}
}

func TestAmbiguousPrefix(t *testing.T) {
	_, err := everyOption().Parse([]string{"--out-f"})
	want := "ambiguous option: --out-f (--out-file, --out-file-append?)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
