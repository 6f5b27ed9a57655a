package jobprocess

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// relation is where a process stands: who started it, and in which session it is.
type relation struct{ pid, parent, session int }

// family lists the processes of a job, its own first: those of its session, their descendants, and what is in a session
// that one of these has begun. A daemon that has left session and parent behind is no part of it, as it is none of
// the service manager that a command talks to.
func family(root int) []int { return relatives(root, relations()) }

// relatives picks the family of root.
func relatives(root int, all []relation) []int {
	in := map[int]bool{root: true}
	pids := []int{root}
	for grew := true; grew; {
		grew = false
		for _, r := range all {
			if !in[r.pid] && (in[r.parent] || in[r.session]) {
				in[r.pid], grew = true, true
				pids = append(pids, r.pid)
			}
		}
	}
	return pids
}

// table is the table of processes, read once for all who ask within a moment: a stop asks for many families.
type table struct {
	mu  sync.Mutex
	at  time.Time // when the last reading began
	all []relation
}

// family lists a family as it was at that time, or later.
func (t *table) family(root int, since time.Time) []int {
	t.mu.Lock()
	if t.at.Before(since) {
		t.at = time.Now()
		t.all = relations()
	}
	all := t.all
	t.mu.Unlock()
	return relatives(root, all)
}

// relations reads the table of processes, zombies left out.
func relations() []relation {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	all := make([]relation, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		if r, ok := parseStat(pid, stat); ok {
			all = append(all, r)
		}
	}
	return all
}

// parseStat reads proc_pid_stat(5): "pid (name) state ppid pgrp session ...". The name may hold anything.
func parseStat(pid int, stat []byte) (relation, bool) {
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	words := bytes.Fields(rest)
	if !ok || len(words) < 4 || words[0][0] == 'Z' || words[0][0] == 'X' {
		return relation{}, false
	}
	parent, err := strconv.Atoi(string(words[1]))
	if err != nil {
		return relation{}, false
	}
	session, err := strconv.Atoi(string(words[3]))
	return relation{pid, parent, session}, err == nil
}

// kill sends a signal to processes, the first of them last when it is the caller. Those that have ended are no error.
func kill(pids []int, sig syscall.Signal) {
	self := false
	for _, pid := range pids {
		if pid == os.Getpid() {
			self = true
			continue
		}
		_ = unix.Kill(pid, sig)
	}
	if self {
		_ = unix.Kill(os.Getpid(), sig)
	}
}
