package cmdmod

import (
	"slices"

	"brine/modules/loader"
)

// Module is the module cmd. The default shell is that of the environment when the functions are made, as in Salt.
func Module() loader.Module {
	return loader.Module{File: "cmdmod", Name: "cmd", Virtual: loader.Always, Funcs: func() []loader.Func {
		funcs := slices.Concat(runners(), files(), lookups())
		for i := range funcs {
			inShell(&funcs[i], defaultShell())
		}
		return funcs
	}}
}

// inShell gives the parameter shell a default, where a function has it.
func inShell(f *loader.Func, shell string) {
	for i := range f.Params {
		if p := &f.Params[i]; p.Name == "shell" && !p.Required {
			p.Default = shell
		}
	}
}

func runners() []loader.Func {
	return []loader.Func{
		loader.Fn("run", run,
			"Run a command and return its output, standard error included. The exit code is that of the job.",
			`cmd.run "ls -l | grep foo"`, "cmd.run 'ls' cwd=/tmp env='{LANG: C}' timeout=10"),
		loader.Fn("shell", runShell, "Like cmd.run, always by a shell.", `cmd.shell "ls -l | awk '/foo/{print \$2}'"`),
		loader.Fn("run_stdout", runStdout, "Run a command and return its standard output.", `cmd.run_stdout "ls -l"`),
		loader.Fn("run_stderr", runStderr, "Run a command and return its standard error.", `cmd.run_stderr "ls -l"`),
		loader.Fn("run_all", runAll, "Run a command and return a map of pid, retcode, stdout and stderr.",
			`cmd.run_all "ls -l"`),
		loader.Fn("retcode", retcode, "Run a command and return its exit code.", `cmd.retcode "file /bin/bash"`),
		loader.Fn("run_bg", runBG, "Start a command, do not wait for it, and return its pid.", "cmd.run_bg 'sleep 60'"),
	}
}

func files() []loader.Func {
	return []loader.Func{
		loader.Fn("script", script, "Fetch a script, run it with arguments and return what cmd.run_all returns.",
			`cmd.script salt://scripts/runme.sh 'arg1 "arg 2"'`),
		loader.Fn("script_retcode", scriptRetcode, "Fetch a script, run it with arguments and return its exit code.",
			"cmd.script_retcode salt://scripts/runme.sh"),
		loader.Fn("exec_code", execCode,
			"Write code to a file, run it by an interpreter and return its standard output.",
			`cmd.exec_code ruby 'puts "cheese"' args='["arg1", "arg2"]'`),
		loader.Fn("exec_code_all", execCodeAll,
			"Write code to a file, run it by an interpreter and return what cmd.run_all returns.",
			`cmd.exec_code_all ruby 'puts "cheese"'`),
		loader.Fn("run_chroot", runChroot,
			"Run a command inside a chroot with /dev, /proc and /sys mounted, and return what cmd.run_all returns.",
			"cmd.run_chroot /var/lib/image 'sh /tmp/bootstrap.sh'"),
	}
}

func lookups() []loader.Func {
	return []loader.Func{
		loader.Fn("which", whichFunc, "Return the path of a program, None when it is not installed.", "cmd.which cat"),
		loader.Fn("which_bin", whichBin, "Return the path of the first program of a list that is installed.",
			"cmd.which_bin '[pip2, pip, pip-python]'"),
		loader.Fn("has_exec", hasExec, "Tell whether a program is installed.", "cmd.has_exec cat"),
		loader.Fn("shells", shells, "List the login shells of /etc/shells.", "cmd.shells"),
		loader.Fn("shell_info", shellInfo, "Tell whether a shell or script language is installed, and its version.",
			"cmd.shell_info bash"),
		loader.Fn("tty", tty, "Write a text to a terminal.",
			"cmd.tty tty0 'This is a test'", "cmd.tty pts3 'This is a test'"),
	}
}
