package bench

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of processes that leave their group and their parent, as Salt's runners
// do (salt.utils.process.daemonize). Otherwise no process would end them.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt what daemons leave behind: %w", err)
	}
	return nil
}

// children returns the child processes of this process.
func children() (pids []int) {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil
	}
	own, _, _ := strings.Cut(string(b), " ")
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/" + own + "/task/" + task.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// strayPatience bounds the time for ending strays.
const strayPatience = 20 * time.Second

// endStrays ends the children of this process that are not in before, and further ones that become its children
// by that.
func endStrays(before []int) error {
	for until := time.Now().Add(strayPatience); ; {
		strays := slices.DeleteFunc(children(), func(pid int) bool { return slices.Contains(before, pid) })
		if len(strays) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("processes %v do not end", strays)
		}
		for _, pid := range strays {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
			for errors.Is(reap(pid), syscall.EINTR) {
			}
		}
	}
}

// reap waits for a killed child. It is no error if the child was reaped already.
func reap(pid int) error {
	_, err := syscall.Wait4(pid, nil, 0, nil)
	return err
}
