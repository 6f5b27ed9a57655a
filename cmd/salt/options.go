package salt

import (
	"fmt"
	"strconv"
	"strings"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/tool"
)

// saltParser declares the options of salt.
func saltParser(c *tool.Call) *optparse.Parser {
	p := options.NewParser(c, "%prog [options] '<target>' <function> [arguments]",
		"Salt allows for commands to be executed across a swath of remote systems in parallel, so they can be both "+
			"controlled and queried with ease.")
	options.AddConfigDir(p)
	options.AddHardCrash(p)
	options.AddNoParse(p)
	options.AddArgsStdin(p)
	options.AddTimeout(p, 5)
	addSaltRun(p)
	addSaltShow(p)
	p.Group("Brine Options", "Salt has none of these.",
		options.FlagOption("tell_why", "Say on stderr why minions are silent, also where that is no terminal. See "+
			"brine why.", "--why"))
	addSaltBatch(p)
	addSaltReturners(p)
	options.AddTargets(p, true)
	options.AddEauth(p, true)
	options.AddOutput(p, true)
	options.AddLogging(p, true, "log_file", "/var/log/salt/master")
	return p
}

// addSaltRun declares the options that change how a job runs.
func addSaltRun(p *optparse.Parser) {
	p.Add(
		options.FlagOption("static", "Show the returns at the end as one result.", "-s", "--static"),
		options.FlagOption("progress", "Show how far the job is, and no returns.", "-p", "--progress"),
		options.FlagOption("async", "Start the job and do not wait for returns.", "--async"),
		optparse.Option{Flags: []string{"--subset"}, Kind: optparse.Int, Default: 0,
			Help: "Run on that many of the target's minions, chosen at random among those that have the function."},
		optparse.Option{Flags: []string{"--metadata"}, Default: "", Metavar: "METADATA",
			Help: "Data to keep with the job."},
		options.FlagOption("start_event", "Let each minion fire salt/job/<jid>/start/<id> before it runs the function.",
			"--start-event"),
		optparse.Option{Flags: []string{"--args-separator"}, Dest: "args_separator", Default: ",",
			Help: "The word between the arguments of several functions. Default: '%default'."})
}

// addSaltShow declares the options that change the output.
func addSaltShow(p *optparse.Parser) {
	p.Add(
		options.FlagOption("verbose", "Show the job id, and more in a summary.", "-v", "--verbose"),
		options.FlagOption("show_jid", "Show the job id.", "--show-jid"),
		optparse.Option{Flags: []string{"--hide-timeout"}, Dest: "show_timeout", Kind: optparse.Const, Const: false,
			Default: true,
			Help:    "Accepted for Salt's sake, without effect since 3008."},
		options.FlagOption("doc", "Show the help of a function, of a module, or of all functions.", "-d", "--doc",
			"--documentation"),
		options.FlagOption("cli_summary", "Count returns and failures at the end.", "--summary"),
		options.FlagOption("config_dump", "Show the configuration of the master.", "--config-dump"),
		options.FlagOption("preview_target", "Show which minions the target means, and send nothing.",
			"--preview-target"))
}

// addSaltBatch declares the options of batches.
func addSaltBatch(p *optparse.Parser) {
	p.Add(
		optparse.Option{Flags: []string{"-b", "--batch", "--batch-size"}, Dest: "batch", Default: "",
			Help: "Run on that many minions at a time, or on that many percent of them."},
		optparse.Option{Flags: []string{"--batch-wait"}, Dest: "batch_wait", Default: float64(0), Convert: seconds,
			Help: "Seconds for which the place of a minion that has finished stays taken."},
		options.FlagOption("failhard", "End a batch at the first failure.", "--failhard"),
		optparse.Option{Flags: []string{"--batch-safe-limit"}, Dest: "batch_safe_limit", Kind: optparse.Int, Default: 0,
			Help: "Make it a batch when the target means at least that many minions."},
		optparse.Option{Flags: []string{"--batch-safe-size"}, Dest: "batch_safe_size", Default: "8",
			Help: "Size of such a batch. Default: %default."})
}

// addSaltReturners declares the options for returners and for the way functions are called.
func addSaltReturners(p *optparse.Parser) {
	p.Add(
		optparse.Option{Flags: []string{"--return"}, Default: "", Metavar: "RETURNER",
			Help: "Returners that get the returns too, with commas between."},
		optparse.Option{Flags: []string{"--return_config"}, Dest: "return_config", Default: "",
			Metavar: "RETURNER_CONF",
			Help:    "Another configuration of the returners."},
		optparse.Option{Flags: []string{"--return_kwargs"}, Dest: "return_kwargs", Metavar: "RETURNER_KWARGS",
			Help: "Options of the returners."},
		optparse.Option{Flags: []string{"--module-executors"}, Dest: "module_executors", Metavar: "EXECUTOR_LIST",
			Help: "List of executors that call the function, in place of the minion's."},
		optparse.Option{Flags: []string{"--executor-opts"}, Dest: "executor_opts", Metavar: "EXECUTOR_OPTS",
			Help: "Options of the executors."})
}

// seconds reads a number that may have a fraction.
func seconds(text string) (any, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return nil, fmt.Errorf("invalid floating-point value: '%s'", text)
	}
	return f, nil
}
