package options

import (
	"strings"

	"brine/cmd/optparse"
)

// targetKind is one way to name minions: an option, and its name in the request.
type targetKind struct {
	flags    []string
	dest     string
	tgtType  string
	help     string
	extended bool // salt-cp lacks it
}

// targetKinds are in the order in which Salt's error names them if two are given.
var targetKinds = []targetKind{
	{[]string{"-E", "--pcre"}, "pcre", "pcre", "The target is a regular expression.", false},
	{[]string{"-L", "--list"}, "list", "list", "The target is a list of ids, with commas or blanks between.", false},
	{[]string{"-G", "--grain"}, "grain", "grain", "The target is a grain and a glob: os:Deb*.", false},
	{[]string{"-P", "--grain-pcre"}, "grain_pcre", "grain_pcre", "The target is a grain and a regular expression.",
		false},
	{[]string{"-N", "--nodegroup"}, "nodegroup", "nodegroup", "The target is a node group of the master.", false},
	{[]string{"-R", "--range"}, "range", "range", "The target is a range expression.", false},
	{[]string{"-C", "--compound"}, "compound", "compound", "The target is a compound expression: 'G@os:Debian and " +
		"web*'.", true},
	{[]string{"-I", "--pillar"}, "pillar_target", "pillar", "The target is a pillar key and a glob.", true},
	{[]string{"-J", "--pillar-pcre"}, "pillar_pcre", "pillar_pcre", "The target is a pillar key and a regular " +
		"expression.", true},
	{[]string{"-S", "--ipcidr"}, "ipcidr", "ipcidr", "The target is an address or a network.", true},
}

// AddTargets declares the target options. extended adds those that salt-cp lacks.
func AddTargets(p *optparse.Parser, extended bool) {
	for _, k := range targetKinds {
		if extended || !k.extended {
			p.Group("Target Options", "", optparse.Option{Flags: k.flags, Dest: k.dest, Kind: optparse.Flag,
				Help: k.help})
		}
	}
	p.Group("Target Options", "", optparse.Option{Flags: []string{"--delimiter"}, Default: ":",
		Help: "What separates levels in grain and pillar targets. Default: '%default'."})
}

// TargetType is the target type that the options name, or glob by default.
func TargetType(p *optparse.Parser, v *optparse.Values) (string, error) {
	var given []string
	kind := "glob"
	for _, k := range targetKinds {
		if v.Bool(k.dest) {
			given = append(given, k.flags[len(k.flags)-1])
			kind = k.tgtType
		}
	}
	if len(given) > 1 {
		return "", p.Errorf("The options %s are mutually exclusive. Please only choose one of them",
			strings.Join(given, "/"))
	}
	return kind, nil
}
