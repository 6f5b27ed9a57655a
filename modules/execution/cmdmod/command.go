package cmdmod

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/slsutil"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
	"brine/wire/python/shlex"
)

// command is one program run, worked out from its options.
type command struct {
	call      *loader.Call
	opt       *options
	original  any      // as the caller gave it
	shown     any      // as messages show it: the text or the list of words
	argv      []string // program and arguments
	shell     string
	useShell  bool
	cwd       string
	env       []string
	umask     int // 0: as it is
	account   *program.Account
	timeout   float64 // seconds; 0: none
	timeoutBy any     // the timeout as given
	level     slog.Level
	quiet     bool
	success   success
	bg        bool
	vt        bool
	merge     bool // standard error goes into standard output
	stdin     *string
	runas     string
	group     string
	budget    *program.Budget
}

// prepare checks and completes the options, in the order in which the reference finds their faults.
func prepare(c *loader.Call, o *options, merge bool) (*command, error) {
	cmd := &command{call: c, opt: o, original: o.Cmd, merge: merge, shell: o.Shell, useShell: o.pythonShell(c),
		runas: o.RunAs, group: o.Group, bg: o.BG, vt: o.UseVT}
	cmd.vt = cmd.vt && !cmd.bg
	most, _ := c.Opts().Int("command_output_max_bytes")
	cmd.budget = program.NewBudget(most)
	steps := []func() error{cmd.checkArguments, cmd.checkShell, cmd.setDirectory, cmd.render, cmd.checkPermitted,
		cmd.announce, cmd.setAccount, cmd.setEnvironment, cmd.setUmask, cmd.checkDirectory, cmd.setWords,
		cmd.setSuccess, cmd.setInput, cmd.setTimeout}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return cmd, nil
}

// checkArguments refuses arguments that promise what does not exist here. Salt passes over what it does not know.
func (cmd *command) checkArguments() error {
	for _, arg := range []struct {
		name  string
		wants bool
	}{
		{"tty", python.Truth(cmd.opt.KW.Value("tty"))}, {"pty", python.Truth(cmd.opt.KW.Value("pty"))},
		{"log_callback", cmd.opt.LogCallback}, {"encoded_cmd", cmd.opt.EncodedCmd},
	} {
		if arg.wants {
			return loader.ExecErr("The argument '%s' of cmd functions is not supported on this minion", arg.name)
		}
	}
	return nil
}

func (cmd *command) checkShell() error {
	level, known := levelOf(cmd.opt.Loglevel)
	if !known {
		logUnknownLevel(cmd.call, cmd.opt.Loglevel)
	}
	cmd.level, cmd.quiet = level, level == levelQuiet
	if !cmd.quiet && !validShell(cmd.shell) {
		cmd.call.Log(slog.LevelWarn, fmt.Sprintf("Attempt to run a shell command with what may be an invalid shell! "+
			"Check to ensure that the shell <%s> is valid for this user.", cmd.shell))
	}
	if cmd.shell == "" {
		return nil
	}
	fi, err := os.Stat(cmd.shell)
	if err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
		return loader.ExecErr("The shell %s is not available", cmd.shell)
	}
	return nil
}

// setDirectory takes the given directory, else the home of the user, else / where that cannot be entered.
func (cmd *command) setDirectory() error {
	if v := cmd.opt.Cwd; python.Truth(v) {
		cmd.cwd = python.Str(v)
		return nil
	}
	cmd.cwd = program.Home(cmd.runas)
	if fi, err := os.Stat(cmd.cwd); err != nil || !fi.IsDir() {
		cmd.cwd = "/"
	}
	return nil
}

// engines are the template engines of the reference; of them jinja is here.
const engines = " cheetah genshi jinja mako py wempy "

// render renders the command and its directory as templates, where that is wanted.
func (cmd *command) render() (err error) {
	engine := cmd.opt.Template
	if !python.Truth(engine) {
		return nil
	}
	name := python.Str(engine)
	switch {
	case !strings.Contains(engines, " "+name+" "):
		return loader.ExecErr("Attempted to render file paths with unavailable engine %s", name)
	case name != "jinja":
		return loader.ExecErr("Failed to execute cmd with error: template engine %s is not available on this minion",
			name)
	case python.Truth(cmd.opt.KW.Value("pillar")) || python.Truth(cmd.opt.KW.Value("pillarenv")):
		return loader.ExecErr("Commands cannot be rendered with another pillar on this minion (pillar, pillarenv)")
	}
	if text, ok := cmd.original.(string); ok {
		if cmd.original, err = cmd.rendered(text); err != nil {
			return err
		}
	}
	cmd.cwd, err = cmd.rendered(cmd.cwd)
	return err
}

func (cmd *command) rendered(text string) (string, error) {
	env := cmd.opt.Saltenv
	if env == "" {
		env = cmp.Or(cmd.call.Opts().Str("saltenv"), "base")
	}
	return slsutil.Templates(cmd.call).Render(cmd.call.Ctx, renderers.Input{Data: text, Saltenv: env})
}

// setAccount looks up runas and group.
func (cmd *command) setAccount() (err error) {
	if cmd.runas == "" && cmd.group == "" {
		return nil
	}
	cmd.account, err = program.LookupAccount(cmd.runas, cmd.group)
	switch {
	case errors.Is(err, program.ErrNoUser):
		return loader.ExecErr("User '%s' is not available", cmd.runas)
	case errors.Is(err, program.ErrNoGroup):
		return loader.ExecErr("Group '%s' is not available", cmd.group)
	}
	return err
}

// checkPermitted honours cmd_blacklist_glob and cmd_whitelist_glob for calls from outside.
func (cmd *command) checkPermitted() error {
	if !cmd.opt.KW.Has("__pub_jid") {
		return nil
	}
	text := python.Str(cmd.original)
	if list, ok := cmd.original.([]any); ok {
		words := make([]string, len(list))
		for i := range list {
			words[i] = python.Str(list[i])
		}
		text = strings.Join(words, " ")
	}
	allowed := true
	if white := cmd.globs("cmd_whitelist_glob"); len(white) > 0 {
		allowed = matchesAny(white, text)
	}
	if !allowed || matchesAny(cmd.globs("cmd_blacklist_glob"), text) {
		return loader.ExecErr(`The shell command "%s" is not permitted`, python.Str(cmd.original))
	}
	return nil
}

// globs reads a list of the configuration as config.get does, pillar included.
func (cmd *command) globs(name string) []any {
	for _, m := range []*payload.Map{cmd.call.Opts(), cmd.call.Pillar()} {
		if list, ok := m.Value(name).([]any); ok {
			return list
		}
	}
	return nil
}

func matchesAny(globs []any, text string) bool {
	for _, g := range globs {
		if fnmatch.Match(python.Str(g), text) {
			return true
		}
	}
	return false
}

// announce logs that the command starts. A command without any word has no name to log, which the reference does
// not survive.
func (cmd *command) announce() error {
	name, ok := firstWord(cmd.original)
	if !ok {
		return loader.Raise("IndexError", "list index out of range")
	}
	if cmd.quiet {
		return nil
	}
	quote := "'"
	if _, isList := cmd.original.([]any); isList {
		quote = ""
	}
	who := ""
	if cmd.runas != "" {
		who = fmt.Sprintf("as user '%s' ", cmd.runas)
	}
	if cmd.group != "" {
		who += fmt.Sprintf("in group '%s' ", cmd.group)
	}
	end := ""
	if cmd.bg {
		end = ". Executing command in the background, no output will be logged."
	}
	cmd.call.Log(slog.LevelInfo, fmt.Sprintf("Executing command %s%s%s %sin directory '%s'%s",
		quote, name, quote, who, cmd.cwd, end))
	return nil
}

// firstWord is the name a command has in the log.
func firstWord(v any) (string, bool) {
	if list, ok := v.([]any); ok {
		if len(list) == 0 {
			return "", false
		}
		return strings.TrimSpace(python.Str(list[0])), true
	}
	words := strings.Fields(python.Str(v))
	if len(words) == 0 {
		return "", false
	}
	return words[0], true
}

func (cmd *command) checkDirectory() error {
	if fi, err := os.Stat(cmd.cwd); !filepath.IsAbs(cmd.cwd) || err != nil || !fi.IsDir() {
		return loader.ExecErr("Specified cwd '%s' either not absolute or does not exist", cmd.cwd)
	}
	return nil
}

// setWords makes the argument vector: the shell with the line, or the words of the line.
func (cmd *command) setWords() error {
	cmd.shown = cmd.original
	if list, ok := cmd.original.([]any); ok {
		for _, v := range list {
			cmd.argv = append(cmd.argv, python.Str(v))
		}
		if cmd.useShell || cmd.vt {
			cmd.argv = append([]string{cmd.shell, "-c"}, cmd.argv...)
		}
		return nil
	}
	text := python.Str(cmd.original)
	cmd.shown = text
	if cmd.useShell {
		cmd.argv = []string{cmd.shell, "-c", text}
		return nil
	}
	if cmd.shell == "" {
		cmd.argv = []string{text}
		return nil
	}
	words, err := shlex.Split(text)
	if err != nil {
		return loader.Raise("ValueError", "%s", err)
	}
	if len(words) == 0 {
		return loader.Raise("IndexError", "list index out of range")
	}
	cmd.argv, cmd.shown = words, payload.AnyList(words)
	return nil
}

func (cmd *command) setInput() error {
	v := cmd.opt.Stdin
	if v == nil || cmd.bg {
		return nil
	}
	text := python.Str(v)
	if !python.Truth(cmd.opt.KW.Value("stdin_raw_newlines")) {
		text = strings.ReplaceAll(text, `\n`, "\n")
	}
	cmd.stdin = &text
	return nil
}

func (cmd *command) setTimeout() error {
	cmd.timeoutBy = cmd.opt.Timeout
	if !python.Truth(cmd.timeoutBy) {
		return nil
	}
	seconds, ok := python.Number(cmd.timeoutBy)
	if !ok {
		return loader.Raise("salt.exceptions.TimedProcTimeoutError", "Error: timeout %s must be a number",
			python.Str(cmd.timeoutBy))
	}
	cmd.timeout = seconds
	return nil
}
