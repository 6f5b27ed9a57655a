package jobprocess

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"brine/modules/host/program/custody"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// Options say how the processes of a minion are started.
type Options struct {
	// Path is the program and Args its words, that lead to Main. Empty: this program, by the name Name.
	Path string
	Args []string
	// Limits hold for every process of every job.
	Limits Limits
}

// Launcher starts the processes of one minion. It may be used by many goroutines.
type Launcher struct {
	opt    Options
	packed packed
	kills  *oomKills
	table  table
}

// New makes a launcher.
func New(opt Options) *Launcher {
	if opt.Path == "" {
		opt.Path = "/proc/self/exe" // the file that runs, even when another has taken its name
	}
	if len(opt.Args) == 0 {
		opt.Args = []string{Name}
	}
	return &Launcher{opt: opt, kills: findOOMKills()}
}

// Start starts a process that waits for its job, in a session of its own. label shows in its command line. Whoever
// starts it must call Run.
func (l *Launcher) Start(label string) (*Process, error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	words, err := wordsFile()
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	cmd := &exec.Cmd{Path: l.opt.Path, Args: append(l.opt.Args[:len(l.opt.Args):len(l.opt.Args)], label),
		Stdout: os.Stdout, Stderr: os.Stderr, ExtraFiles: []*os.File{theirs, words},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := cmd.Start(); err != nil {
		_, _ = ours.Close(), words.Close()
		return nil, fmt.Errorf("start the process of a job: %w", err)
	}
	custody.Started(cmd.Process.Pid, custody.Job)
	return &Process{from: l, cmd: cmd, conn: ours, words: words, end: make(chan struct{})}, nil
}

// socketpair is the way between minion and process.
func socketpair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket for the process of a job: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "job")
	if err := unix.SetNonblock(fds[0], true); err != nil { // ours is waited for without a thread
		_, _ = unix.Close(fds[0]), theirs.Close()
		return nil, nil, fmt.Errorf("socket for the process of a job: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "job"), theirs, nil
}

// wordsFile takes the last words of a process that dies of a fault of its own.
func wordsFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("last words", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("file for the last words of a job: %w", err)
	}
	return os.NewFile(uintptr(fd), "last words"), nil
}

// packed keeps the bytes of the maps that go to every process. They are replaced when they change, and never changed.
type packed struct {
	mu   sync.Mutex
	kept [16]struct {
		m *payload.Map
		b []byte
	}
	next int
}

// bytes packs a map, unless that was done.
func (p *packed) bytes(m *payload.Map) ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.kept {
		if p.kept[i].m == m {
			return p.kept[i].b, nil
		}
	}
	b, err := payload.MarshalBin(m)
	if err != nil {
		return nil, err
	}
	p.kept[p.next].m, p.kept[p.next].b = m, b
	p.next = (p.next + 1) % len(p.kept)
	return b, nil
}
