// Package options declares the options that several tools share, in Salt's words and groups, and reads the
// target type from them. cmd/optparse parses them. It answers to the mixins of salt/utils/parsers.py.
package options

import (
	"os"
	"path/filepath"
	"strings"

	"brine/cmd/optparse"
	"brine/cmd/saltlog"
	"brine/cmd/tool"
	"brine/config"
)

// NewParser makes a tool's parser with the options of every tool: --version, -V, -h.
func NewParser(c *tool.Call, usage, description string) *optparse.Parser {
	p := &optparse.Parser{Prog: c.Prog, Usage: usage, Version: tool.VersionLine, Description: description}
	p.Add(
		optparse.Option{Flags: []string{"--version"}, Kind: optparse.Version, Help: "Print the version and end."},
		optparse.Option{Flags: []string{"-V", "--versions-report"}, Kind: optparse.Flag,
			Help: "Print the versions of what this program is made of and end."},
		optparse.Option{Flags: []string{"-h", "--help"}, Kind: optparse.Help, Help: "Print this help and end."},
	)
	return p
}

// AddConfigDir declares -c and --saltfile.
func AddConfigDir(p *optparse.Parser) {
	p.Add(
		optparse.Option{Flags: []string{"--saltfile"}, Help: "File with options for this program (default: Saltfile " +
			"here or in ~/.salt)."},
		optparse.Option{Flags: []string{"-c", "--config-dir"}, Default: config.DefaultDir(""),
			Help: "Directory with the configuration. Default: '%default'."},
	)
}

// AddUser declares -u.
func AddUser(p *optparse.Parser) {
	p.Add(optparse.Option{Flags: []string{"-u", "--user"}, Help: "User to run " + p.Prog + " as."})
}

// AddHardCrash declares --hard-crash.
func AddHardCrash(p *optparse.Parser) {
	p.Add(optparse.Option{Flags: []string{"--hard-crash"}, Kind: optparse.Flag,
		Default: os.Getenv("SALT_HARD_CRASH") != "",
		Help:    "End with the original error instead of gracefully. Default: %default."})
}

// AddNoParse declares --no-parse. session.NoParse reads its value.
func AddNoParse(p *optparse.Parser) {
	p.Add(optparse.Option{Flags: []string{"--no-parse"}, Default: os.Getenv("SALT_NO_PARSE"),
		Metavar: "argname1,argname2,...",
		Help:    "Names of keyword arguments whose values stay text."})
}

// AddArgsStdin declares --args-stdin. session.ReadWords reads the arguments.
func AddArgsStdin(p *optparse.Parser) {
	p.Add(optparse.Option{Flags: []string{"--args-stdin"}, Kind: optparse.Flag,
		Help: "Read further options and words from stdin, one a line."})
}

// AddTimeout declares -t.
func AddTimeout(p *optparse.Parser, def int) {
	p.Add(optparse.Option{Flags: []string{"-t", "--timeout"}, Kind: optparse.Int, Default: def,
		Help: "Seconds to wait for the command, where that applies. Default: %default."})
}

// AddJID declares --jid.
func AddJID(p *optparse.Parser) {
	p.Add(optparse.Option{Flags: []string{"--jid"}, Help: "Job id to use instead of a new one."})
}

// AddLogging declares the options of console log and log file. short adds -l for the level. dest is the
// configuration key of the log file.
func AddLogging(p *optparse.Parser, short bool, dest, defaultFile string) {
	level := []string{"--log-level"}
	if short {
		level = []string{"-l", "--log-level"}
	}
	names := "'" + strings.Join(saltlog.SortedNames(), "', '") + "'"
	p.Group("Logging Options", "These replace what the configuration says.",
		optparse.Option{Flags: level, Dest: "log_level", Kind: optparse.Choice, Choices: saltlog.Names(),
			Help: "Level of the log on the console, one of " + names + ". Default: 'warning'."},
		optparse.Option{Flags: []string{"--log-file"}, Dest: dest, Convert: logFilePath,
			Help: "Path of the log file. Default: '" + defaultFile + "'."},
		optparse.Option{Flags: []string{"--log-file-level"}, Dest: "log_level_logfile", Kind: optparse.Choice,
			Choices: saltlog.SortedNames(), Help: "Level of the log file, named as above. Default: the console's."})
}

// logFilePath puts a bare file name into the current directory.
func logFilePath(text string) (any, error) {
	if filepath.Base(text) == text {
		return "./" + text, nil
	}
	return text, nil
}

// AddOutput declares the output options. diff adds the option that only salt and salt-call have.
func AddOutput(p *optparse.Parser, diff bool) {
	p.Group("Output Options", "How results are shown.",
		optparse.Option{Flags: []string{"--out", "--output"}, Dest: "output", Help: "Name of the outputter."},
		optparse.Option{Flags: []string{"--out-indent", "--output-indent"}, Dest: "output_indent", Kind: optparse.Int,
			Help: "Blanks of indentation, for outputters that have one; negative means one line."},
		optparse.Option{Flags: []string{"--out-file", "--output-file"}, Dest: "output_file",
			Help: "Write the output to this file."},
		optparse.Option{Flags: []string{"--out-file-append", "--output-file-append"}, Dest: "output_file_append",
			Kind: optparse.Flag, Help: "Append to that file instead of emptying it first."},
		optparse.Option{Flags: []string{"--no-color", "--no-colour"}, Dest: "no_color", Kind: optparse.Flag,
			Help: "No colours."},
		optparse.Option{Flags: []string{"--force-color", "--force-colour"}, Dest: "force_color", Kind: optparse.Flag,
			Help: "Colours even where stdout is no terminal."},
		optparse.Option{Flags: []string{"--state-output", "--state_output"}, Dest: "state_output",
			Help: "How state results are shown: full, terse, mixed, changes or filter, each also with _id behind."},
		optparse.Option{Flags: []string{"--state-verbose", "--state_verbose"}, Dest: "state_verbose", Convert: truth,
			Help: "True or False: show states that are fine and unchanged."})
	if diff {
		p.Group("Output Options", "", optparse.Option{Flags: []string{"--output-diff"}, Dest: "state_output_diff",
			Kind: optparse.Flag, Help: "Show only states that changed something or failed."})
	}
}

// truth converts Salt's words for truth values. Other text stays.
func truth(text string) (any, error) {
	switch text {
	case "True", "true":
		return true, nil
	case "False", "false":
		return false, nil
	}
	return text, nil
}

// AddEauth declares the options of external authentication. short adds -a.
func AddEauth(p *optparse.Parser, short bool) {
	flags := []string{"--auth", "--eauth", "--external-auth"}
	if short {
		flags = append([]string{"-a"}, flags...)
	}
	p.Group("External Authentication", "",
		optparse.Option{Flags: flags, Dest: "eauth", Default: "", Help: "Name of the external authentication to use."},
		optparse.Option{Flags: []string{"-T", "--make-token"}, Dest: "mktoken", Kind: optparse.Flag,
			Help: "Get a token and keep it for the next calls, as long as the master lets it live."},
		optparse.Option{Flags: []string{"--username"}, Help: "User name."},
		optparse.Option{Flags: []string{"--password"}, Help: "Password."})
}

// AddProfiling declares the options of Salt's own profiler. brine accepts and ignores them.
func AddProfiling(p *optparse.Parser) {
	p.Group("Profiling support", "",
		optparse.Option{Flags: []string{"--profiling-path"}, Default: "/tmp/stats",
			Help: "Accepted for Salt's sake, without effect."},
		optparse.Option{Flags: []string{"--enable-profiling"}, Dest: "profiling_enabled", Kind: optparse.Flag,
			Help: "Accepted for Salt's sake, without effect."})
}

// FlagOption is an option without a value.
func FlagOption(dest, help string, flags ...string) optparse.Option {
	return optparse.Option{Flags: flags, Dest: dest, Kind: optparse.Flag, Help: help}
}

// NewOwnParser makes the parser of a tool that Salt does not have. The tool itself declares --version.
func NewOwnParser(c *tool.Call, description string) *optparse.Parser {
	p := &optparse.Parser{Prog: "brine " + c.Prog, Description: description}
	p.Add(optparse.Option{Flags: []string{"-h", "--help"}, Kind: optparse.Help, Help: "Print this help and end."})
	return p
}
