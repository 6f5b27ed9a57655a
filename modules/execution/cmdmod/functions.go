package cmdmod

import (
	"os"

	"brine/modules/loader"
)

const source = "salt/modules/cmdmod.py"

// Functions lists the module's functions. The default shell is that of the environment at this moment, as in Salt.
func Functions() []loader.Func {
	shell := defaultShell()
	funcs := append(runners(shell), files(shell)...)
	funcs = append(funcs, lookups()...)
	for i := range funcs {
		funcs[i].Source = source
	}
	return funcs
}

// defaultShell is the login shell of this process's environment.
func defaultShell() string {
	if shell, ok := os.LookupEnv("SHELL"); ok {
		return shell
	}
	return "/bin/sh"
}

// The parameter lists below are those of the reference, in its order: positions count.
const (
	paramsRun = "cmd cwd stdin runas group shell python_shell env clean_env template rstrip umask output_encoding output_loglevel " +
		"log_callback hide_output timeout reset_system_locale ignore_retcode saltenv use_vt redirect_stderr bg password encoded_cmd " +
		"raise_err prepend_path success_retcodes success_stdout success_stderr"
	paramsShell = "cmd cwd stdin runas group shell env clean_env template rstrip umask output_encoding output_loglevel log_callback " +
		"hide_output timeout reset_system_locale ignore_retcode saltenv use_vt bg password prepend_path success_retcodes " +
		"success_stdout success_stderr"
	paramsStdout = "cmd cwd stdin runas group shell python_shell env clean_env template rstrip umask output_encoding output_loglevel " +
		"log_callback hide_output timeout reset_system_locale ignore_retcode saltenv use_vt password prepend_path success_retcodes " +
		"success_stdout success_stderr"
	paramsAll = "cmd cwd stdin runas group shell python_shell env clean_env template rstrip umask output_encoding output_loglevel " +
		"log_callback hide_output timeout reset_system_locale ignore_retcode saltenv use_vt redirect_stderr password encoded_cmd " +
		"prepend_path success_retcodes success_stdout success_stderr"
	paramsRetcode = "cmd cwd stdin runas group shell python_shell env clean_env template umask output_encoding output_loglevel " +
		"log_callback timeout reset_system_locale ignore_retcode saltenv use_vt password success_retcodes success_stdout success_stderr"
	paramsBG = "cmd cwd runas group shell python_shell env clean_env template umask timeout output_encoding output_loglevel " +
		"log_callback reset_system_locale ignore_retcode saltenv password prepend_path success_retcodes success_stdout success_stderr"
	paramsScript = "source args cwd stdin runas group shell python_shell env template umask output_encoding output_loglevel log_callback " +
		"hide_output timeout reset_system_locale saltenv use_vt bg password success_retcodes success_stdout success_stderr"
	paramsScriptRetcode = "source args cwd stdin runas group shell python_shell env template umask timeout reset_system_locale saltenv " +
		"output_encoding output_loglevel log_callback use_vt password success_retcodes success_stdout success_stderr"
	paramsChroot = "root cmd cwd stdin runas group shell python_shell binds env clean_env template rstrip umask output_encoding " +
		"output_loglevel log_callback hide_output timeout reset_system_locale ignore_retcode saltenv use_vt bg success_retcodes " +
		"success_stdout success_stderr"
)

func runners(shell string) []loader.Func {
	return []loader.Func{
		{Name: "cmd.run", Params: params(paramsRun, shell, map[string]any{"redirect_stderr": true}), KWArgs: true, Run: run,
			Doc: `Run a command and return its output, standard error included. The exit code is that of the job.

CLI Example:

    salt '*' cmd.run "ls -l | grep foo"
    salt '*' cmd.run 'ls' cwd=/tmp env='{LANG: C}' timeout=10`},
		{Name: "cmd.shell", Params: params(paramsShell, shell, nil), KWArgs: true, Run: runShell,
			Doc: `Like cmd.run, always by a shell.

CLI Example:

    salt '*' cmd.shell "ls -l | awk '/foo/{print \$2}'"`},
		{Name: "cmd.run_stdout", Params: params(paramsStdout, shell, nil), KWArgs: true, Run: runStdout,
			Doc: `Run a command and return its standard output.

CLI Example:

    salt '*' cmd.run_stdout "ls -l"`},
		{Name: "cmd.run_stderr", Params: params(paramsStdout, shell, nil), KWArgs: true, Run: runStderr,
			Doc: `Run a command and return its standard error.

CLI Example:

    salt '*' cmd.run_stderr "ls -l"`},
		{Name: "cmd.run_all", Params: params(paramsAll, shell, nil), KWArgs: true, Run: runAll,
			Doc: `Run a command and return a map of pid, retcode, stdout and stderr.

CLI Example:

    salt '*' cmd.run_all "ls -l"`},
		{Name: "cmd.retcode", Params: params(paramsRetcode, shell, nil), KWArgs: true, Run: retcode,
			Doc: `Run a command and return its exit code.

CLI Example:

    salt '*' cmd.retcode "file /bin/bash"`},
		{Name: "cmd.run_bg", Params: params(paramsBG, shell, nil), KWArgs: true, Run: runBG,
			Doc: `Start a command, do not wait for it, and return its pid.

CLI Example:

    salt '*' cmd.run_bg 'sleep 60'`},
	}
}

func files(shell string) []loader.Func {
	return []loader.Func{
		{Name: "cmd.script", Params: params(paramsScript, shell, nil), KWArgs: true, Run: script,
			Doc: `Fetch a script, run it with arguments and return what cmd.run_all returns.

CLI Example:

    salt '*' cmd.script salt://scripts/runme.sh 'arg1 "arg 2"'`},
		{Name: "cmd.script_retcode", Params: params(paramsScriptRetcode, shell, map[string]any{"template": "jinja"}), KWArgs: true, Run: scriptRetcode,
			Doc: `Fetch a script, run it with arguments and return its exit code.

CLI Example:

    salt '*' cmd.script_retcode salt://scripts/runme.sh`},
		{Name: "cmd.exec_code", Params: codeParams(), KWArgs: true, Run: execCode,
			Doc: `Write code to a file, run it by an interpreter and return its standard output.

CLI Example:

    salt '*' cmd.exec_code ruby 'puts "cheese"' args='["arg1", "arg2"]'`},
		{Name: "cmd.exec_code_all", Params: codeParams(), KWArgs: true, Run: execCodeAll,
			Doc: `Write code to a file, run it by an interpreter and return what cmd.run_all returns.

CLI Example:

    salt '*' cmd.exec_code_all ruby 'puts "cheese"'`},
		{Name: "cmd.run_chroot", Params: params(paramsChroot, shell, map[string]any{"python_shell": true, "output_loglevel": "quiet", "binds": nil}),
			KWArgs: true, Run: runChroot,
			Doc: `Run a command inside a chroot with /dev, /proc and /sys mounted, and return what cmd.run_all returns.

CLI Example:

    salt '*' cmd.run_chroot /var/lib/image 'sh /tmp/bootstrap.sh'`},
	}
}

func lookups() []loader.Func {
	return []loader.Func{
		{Name: "cmd.which", Params: []loader.Param{loader.Req("cmd")}, Run: whichFunc, Doc: `Return the path of a program, None when it is not installed.

CLI Example:

    salt '*' cmd.which cat`},
		{Name: "cmd.which_bin", Params: []loader.Param{loader.Req("cmds")}, Run: whichBin, Doc: `Return the path of the first program of a list that is installed.

CLI Example:

    salt '*' cmd.which_bin '[pip2, pip, pip-python]'`},
		{Name: "cmd.has_exec", Params: []loader.Param{loader.Req("cmd")}, Run: hasExec, Doc: `Tell whether a program is installed.

CLI Example:

    salt '*' cmd.has_exec cat`},
		{Name: "cmd.shells", Run: shells, Doc: `List the login shells of /etc/shells.

CLI Example:

    salt '*' cmd.shells`},
		{Name: "cmd.shell_info", Params: []loader.Param{loader.Req("shell"), loader.Opt("list_modules", false)}, Run: shellInfo,
			Doc: `Tell whether a shell or script language is installed, and its version.

CLI Example:

    salt '*' cmd.shell_info bash`},
		{Name: "cmd.tty", Params: []loader.Param{loader.Req("device"), loader.Opt("echo", "")}, Run: tty,
			Doc: `Write a text to a terminal.

CLI Example:

    salt '*' cmd.tty tty0 'This is a test'
    salt '*' cmd.tty pts3 'This is a test'`},
	}
}

func codeParams() []loader.Param {
	return []loader.Param{loader.Req("lang"), loader.Req("code"), loader.Opt("cwd", nil), loader.Opt("args", nil)}
}
