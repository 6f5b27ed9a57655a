package saltcall

import (
	"path/filepath"
	"strings"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/wire/payload"
)

// callParser declares the options of salt-call.
func callParser(c *tool.Call) *optparse.Parser {
	p := options.NewParser(c, "%prog [options] <function> [arguments]",
		"salt-call is used to execute module functions locally on a Salt Minion")
	p.Add(optparse.Option{Flags: []string{"--proxyid"}, Help: "Accepted for Salt's sake, without effect: there are " +
		"no proxies here."})
	options.AddConfigDir(p)
	p.Add(
		optparse.Option{Flags: []string{"--module-executors"}, Metavar: "EXECUTOR_LIST",
			Help: "Executors the function is called through."},
		optparse.Option{Flags: []string{"--executor-opts"}, Metavar: "EXECUTOR_OPTS",
			Help: "Options of these executors, as YAML."})
	options.AddHardCrash(p)
	options.AddArgsStdin(p)
	options.AddNoParse(p)
	addCallOptions(p)
	options.AddLogging(p, true, "log_file", "/var/log/salt/minion")
	options.AddOutput(p, true)
	options.AddProfiling(p)
	return p
}

// addCallOptions declares the options that only salt-call has.
func addCallOptions(p *optparse.Parser) {
	appended := func(name, help string) optparse.Option {
		return optparse.Option{Flags: []string{"--" + name}, Kind: optparse.Append, Help: help}
	}
	text := func(help string, flags ...string) optparse.Option {
		return optparse.Option{Flags: flags, Help: help}
	}
	p.Add(
		text("Directory for caches, in place of the configuration's.", "--cachedir"),
		options.FlagOption("grains_run", "Show the grains.", "-g", "--grains"),
		optparse.Option{Flags: []string{"-m", "--module-dirs"}, Kind: optparse.Append,
			Help: "Accepted for Salt's sake, without effect: modules are part of this program."},
		options.FlagOption("doc", "Show the help of the functions that begin with a name, or of all.", "-d", "--doc",
			"--documentation"),
		text("Master to use; it must know this minion's key.", "--master"),
		optparse.Option{Flags: []string{"--return"}, Default: "", Metavar: "RETURNER",
			Help: "Returners that get the result, with commas."},
		options.FlagOption("local", "Work without a master.", "--local"),
		appended("file-root", "Root of files of the environment base; may be repeated."),
		appended("pillar-root", "Root of pillar of the environment base; may be repeated."),
		appended("states-dir", "Further directory of states; may be repeated."),
		options.FlagOption("retcode_passthrough", "End with the function's own code.", "--retcode-passthrough"),
		options.FlagOption("print_metadata", "Show the whole record of the call, not only its result.", "--metadata"),
		optparse.Option{Flags: []string{"--set-metadata"}, Dest: "metadata", Metavar: "METADATA",
			Help: "YAML to be kept with the call."},
		text("Minion id, in place of the configuration's.", "--id"),
		options.FlagOption("skip_grains", "Accepted for Salt's sake, without effect: grains are read when something "+
			"needs them.", "--skip-grains"),
		options.FlagOption("refresh_grains_cache", "Read the grains anew, not from their cache.",
			"--refresh-grains-cache"),
		options.FlagOption("no_return_event", "Do not send the result to the master.", "--no-return-event"),
		optparse.Option{Flags: []string{"-t", "--timeout"}, Dest: "auth_timeout", Kind: optparse.Int, Default: 60,
			Help: "Seconds to wait for the master's answer to a sign-in. Default: %default."},
		optparse.Option{Flags: []string{"--priv"}, Dest: "user", Help: "User to run salt-call as."},
		options.FlagOption("resources_dispatch", "Accepted for Salt's sake: there are no managed resources here.", "-r",
			"--resources"),
		optparse.Option{Flags: []string{"--tgt"}, Dest: "resources_tgt", Default: "*",
			Help: "Target of --resources. Default: '%default'."},
		optparse.Option{Flags: []string{"--tgt-type"}, Dest: "resources_tgt_type", Kind: optparse.Choice,
			Default: "glob", Choices: []string{"glob", "list", "compound", "grain", "grain_pcre", "pcre"},
			Help: "Type of --tgt. Default: '%default'."})
}

// adjustCall turns options into configuration if their names or forms differ.
func adjustCall(v *optparse.Values, over *payload.Map) error {
	if v.Bool("local") {
		over.Set("file_client", "local")
	}
	if v.Str("master") == "" {
		over.Delete("master")
	}
	if v.Str("id") == "" {
		over.Delete("id")
	}
	if dir := v.Str("cachedir"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		over.Set("cachedir", abs)
	}
	for dest, key := range map[string]string{"file_root": "file_roots", "pillar_root": "pillar_roots"} {
		if v.Given(dest) {
			over.Set(key, payload.M("base", roots(v.Strs(dest))))
		}
	}
	if v.Given("states_dir") {
		over.Set("states_dirs", roots(v.Strs("states_dir")))
	}
	if v.Given("module_dirs") {
		var dirs []string
		for _, d := range v.Strs("module_dirs") {
			dirs = append(dirs, strings.Split(d, ",")...)
		}
		over.Set("module_dirs", roots(dirs))
	}
	return nil
}
