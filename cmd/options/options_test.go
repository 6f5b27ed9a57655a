package options

import (
	"errors"
	"io"
	"strings"
	"testing"

	"brine/cmd/optparse"
	"brine/cmd/tool"
)

// everyOption declares every set of options that fits into one command line, as in salt.
func everyOption() *optparse.Parser {
	c := &tool.Call{Prog: "salt", Stdout: io.Discard, Stderr: io.Discard}
	p := NewParser(c, "%prog [options] '<target>' <function> [arguments]", "")
	AddConfigDir(p)
	AddUser(p)
	AddHardCrash(p)
	AddNoParse(p)
	AddArgsStdin(p)
	AddTimeout(p, 5)
	AddJID(p)
	AddLogging(p, true, "log_file", "/var/log/salt/master")
	AddOutput(p, true)
	AddEauth(p, true)
	AddProfiling(p)
	AddTargets(p, true)
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
		{"-C -I -L x", "", "The options --list/--compound/--pillar are mutually exclusive. Please only choose one " +
			"of them"},
	} {
		p := everyOption()
		v, err := p.Parse(strings.Fields(tt.argv))
		if err != nil {
			t.Errorf("%s: %v", tt.argv, err)
			continue
		}
		got, err := TargetType(p, v)
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
