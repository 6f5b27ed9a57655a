// Package program starts the programs that functions, grains and the like run: it is the one place below modules that
// does. Who calls it says what is run (the words, the environment, the directory, the user) and gets what came of it as
// bytes and an exit code. What an option of cmd.run means, how output is decoded and what is logged is the caller's
// business.
//
// Every program runs in a process group of its own. The group is killed when the time of the program is over and when
// the caller's context ends, so nothing is left behind; the reference kills the first process only. What was started in
// the background is left alone by both. Programs of a daemon end with it, even when it is killed (see
// modules/host/program/custody). Output is read while the program runs and kept up to a budget. No open file of this
// process goes to a program. It answers to salt/utils/timed_subprocess.py and salt/utils/vt.py.
package program

import (
	"syscall"
	"time"
)

// Spec says what is run, and how.
type Spec struct {
	Argv []string // the program and its arguments; a name without a slash is sought on the PATH of Env
	Env  []string // the whole environment; nil: that of the job (modules/host/environ), else of this process
	Dir  string   // "": the directory of this process

	As    *syscall.Credential // user and groups; nil: those of this process
	Umask int                 // 0: that of this process
	Nice  int                 // is added to the niceness of this process

	Input    *string // what it reads; nil: nothing, as from /dev/null. Unlike Salt, where it is what the minion reads
	Merge    bool    // standard error goes into standard output
	Terminal bool    // it runs on terminals of its own, and has no input

	Timeout time.Duration // after which its group is killed; 0: none
	Output  *Budget       // what is kept of its output; nil: MaxOutput
}

// Result is what a program left.
type Result struct {
	PID            int
	Code           int64 // minus the signal where one ended it
	Stdout, Stderr []byte
	Lost, LostErr  int64 // bytes that were cut off them
	TimedOut       bool  // Code means nothing then
}
