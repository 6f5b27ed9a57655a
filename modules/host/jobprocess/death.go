package jobprocess

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Death is how a process ended that handed no return over.
type Death struct {
	Signal syscall.Signal // that ended it; 0: none
	Code   int            // its exit code, where no signal did
	Asked  syscall.Signal // the signal that it was sent on request; 0: none
	CPU    time.Duration  // processor time it had used
	OOM    bool           // it had no more memory to be had
	RSS    int64          // the most memory it had, in bytes
	Words  string         // what a Go program says when it dies of a fault
	Why    string         // when it is known otherwise
	Limits Limits
}

// Ends tells the signals that end a process which does not expect them.
func Ends(sig syscall.Signal) bool {
	switch sig {
	case 0, unix.SIGCHLD, unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGURG,
		unix.SIGWINCH:
		return false
	}
	return sig > 0
}

// Text is the return of the job.
func (d *Death) Text() string {
	switch {
	case d.Why != "":
		return "The process of the job failed: " + d.Why
	case d.overCPU():
		return fmt.Sprintf("The job was ended by signal %d (%v): it has used its %v of processor time (job_cpu_limit)",
			int(unix.SIGXCPU), unix.SIGXCPU, d.Limits.CPU)
	case d.OOM && d.Limits.Memory > 0:
		return fmt.Sprintf("The job was ended: out of memory, with a limit of %d bytes (job_memory_limit)%s",
			d.Limits.Memory, d.by())
	case d.OOM:
		return "The job was ended: out of memory" + d.by()
	case d.Signal != 0:
		return TextSignal(d.Signal)
	}
	text := fmt.Sprintf("The process of the job ended with exit code %d, without a return", d.Code)
	if d.Words != "" {
		text += ":\n" + d.Words
	}
	return text
}

// TextSignal is the return of a job that a signal has ended.
func TextSignal(sig syscall.Signal) string {
	return fmt.Sprintf("The job was ended by signal %d (%v)", int(sig), sig)
}

func (d *Death) by() string {
	if d.Signal == 0 {
		return ""
	}
	return fmt.Sprintf("; the kernel has sent signal %d (%v)", int(d.Signal), d.Signal)
}

// overCPU tells whether it had used up its time: it says so, or the kernel has killed it.
func (d *Death) overCPU() bool {
	if d.Limits.CPU <= 0 || d.Asked != 0 {
		return false
	}
	return d.Code == ExitCPU || d.Signal == unix.SIGXCPU || d.Signal == unix.SIGKILL && d.CPU >= d.Limits.CPU
}

// read fills in what is known of a process that was waited for.
func (d *Death) read(state *os.ProcessState, words string, kills *oomKills) {
	if state == nil {
		d.Why = "it cannot be waited for"
		return
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		d.Signal = status.Signal()
	} else {
		d.Code = state.ExitCode()
	}
	d.CPU = state.UserTime() + state.SystemTime()
	if used, ok := state.SysUsage().(*syscall.Rusage); ok {
		d.RSS = int64(used.Maxrss) << 10 // an int32 on 32-bit machines
	}
	d.Words = words
	switch {
	case d.Signal == unix.SIGKILL && d.Asked == 0:
		d.OOM = kills.another()
	case d.Signal == 0 || d.Signal == unix.SIGABRT || d.Signal == unix.SIGSEGV:
		d.OOM = outOfMemory(d.Words) || d.refused()
	}
}

// refused tells whether a fault comes of memory that was refused, where the words do not say it: the runtime itself may
// fault when it gets none. A panic is a fault of the function, and a signal that another process has sent is none.
func (d *Death) refused() bool {
	return d.Limits.Memory > 0 && d.RSS >= d.Limits.Memory/4*3 && (d.Code == exitGoFault || d.Signal != 0) &&
		!strings.HasPrefix(d.Words, "panic:") && !strings.Contains(d.Words, " sigcode=0 ")
}

// exitGoFault is the exit code of a Go program that dies of a fault.
const exitGoFault = 2

// maxWords bounds what is kept of them, in bytes.
const maxWords = 4 << 10

// lastWords reads what a process has said at its death: of a Go program the reason, and the first of the stacks.
func lastWords(from io.ReaderAt) string {
	b, err := io.ReadAll(io.NewSectionReader(from, 0, maxWords))
	if err != nil {
		return ""
	}
	text := string(bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("?")))
	if at := strings.Index(text, "\n\ngoroutine "); at >= 0 {
		first, _, _ := strings.Cut(text[at+2:], "\n\n")
		text = text[:at+2] + first
	}
	return text
}

// outOfMemory knows the last words of a Go program that the kernel has refused memory.
func outOfMemory(words string) bool {
	first, _, _ := strings.Cut(words, "\n")
	for _, s := range []string{"out of memory", "cannot allocate memory", "cannot map pages", "failed to allocate",
		"failed to create new OS thread", "pthread_create failed"} {
		if strings.Contains(first, s) {
			return true
		}
	}
	return false
}
