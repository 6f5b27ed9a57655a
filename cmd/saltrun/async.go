package saltrun

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/runners"
)

// detach runs the function in a separate process that outlives this one. Its result goes to the event bus and
// the job cache.
func (r *runTool) detach() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start run in the background: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start run in the background: %w", err)
	}
	defer null.Close()
	argv := []string{"--config-dir=" + filepath.Dir(r.Master.ConfFile), "--jid=" + r.jid, "--quiet"}
	if names := r.NoParse(); len(names) > 0 {
		argv = append(argv, "--no-parse="+strings.Join(names, ","))
	}
	for _, dest := range []string{"log_file", "log_level_logfile"} {
		if r.Opt.Given(dest) {
			argv = append(argv, "--"+strings.ReplaceAll(strings.Replace(dest, "log_level_logfile", "log_file_level", 1),
				"_", "-")+"="+r.Opt.Str(dest))
		}
	}
	cmd := exec.Command(self, append(append(argv, "--"), r.Opt.Args...)...)
	cmd.Args[0] = r.Prog
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start run in the background: %w", err)
	}
	r.sayAsync(runners.Tag(runners.KindRunner, r.jid))
	return nil
}

func (r *runTool) sayAsync(tag string) {
	r.Log.Warn("Running in asynchronous mode. Results of this execution may be collected by attaching to the master " +
		"event bus " +
		"or by examining the master job cache, if configured. This execution is running under tag " + tag)
}
