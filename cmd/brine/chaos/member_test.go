package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"brine/cmd/brine/chaos/link"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// member is one daemon of the fleet, across all its processes.
type member struct {
	id   string
	argv []string
	env  []string
	log  string
	sock string     // control socket; "" for a Salt minion
	kept bool       // a parent restarts its process
	host *link.Host // network namespace for its start; nil: that of the test

	mu     sync.Mutex
	cmd    *exec.Cmd
	done   chan struct{} // closed when cmd has ended
	starts int
}

// start starts the daemon unless it runs.
func (m *member) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running() {
		return nil
	}
	out, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd, done := exec.Command(m.argv[0], m.argv[1:]...), make(chan struct{})
	cmd.Env, cmd.Stdout, cmd.Stderr = m.env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	begin := cmd.Start
	if m.host != nil {
		begin = func() error { return m.host.Start(cmd) }
	}
	if err := begin(); err != nil {
		return fmt.Errorf("start %s: %w", m.id, err)
	}
	m.cmd, m.done = cmd, done
	m.starts++
	go func() {
		defer close(done)
		_ = cmd.Wait() // its log shows how it ended
	}()
	return nil
}

// running tells whether the process runs. The caller holds the lock.
func (m *member) running() bool {
	if m.cmd == nil {
		return false
	}
	select {
	case <-m.done:
		return false
	default:
		return true
	}
}

// owns tells whether start has started a process and will wait for it.
func (m *member) owns(pid int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cmd != nil && m.cmd.Process.Pid == pid
}

// pid is the started process, or 0. worker is the working process.
func (m *member) pid() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running() {
		return 0
	}
	return m.cmd.Process.Pid
}

func (m *member) worker() int {
	pid := m.pid()
	if !m.kept || pid == 0 {
		return pid
	}
	if list := childrenOf(pid); len(list) == 1 {
		return list[0]
	}
	return 0 // the next process will start at once
}

// kill kills the daemon: the started process and the working one, but not those of jobs. It returns when the
// first has ended.
func (m *member) kill() {
	pid, worker := m.pid(), m.worker()
	for _, p := range []int{pid, worker} {
		if p != 0 {
			_ = syscall.Kill(p, syscall.SIGKILL) // it may have ended already
		}
	}
	m.mu.Lock()
	done := m.done
	m.mu.Unlock()
	if pid != 0 {
		<-done
	}
}

// ask asks the daemon on its control socket until it answers, because it may be restarting. A refusal of the
// daemon is an error.
func (m *member) ask(ctx context.Context, request *payload.Map) (any, error) {
	client := ipc.NewControlClient(m.sock)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		reply, err := client.Do(try, request.Set("v", control.Version))
		cancel()
		var refused *ipc.RemoteError
		switch {
		case err == nil:
			return reply.Value("result"), nil
		case errors.As(err, &refused):
			return nil, fmt.Errorf("%s: %s: %w", m.id, request.Str("cmd"), err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%s does not answer %s: %w", m.id, request.Str("cmd"), err)
		}
	}
}

func (m *member) askMap(ctx context.Context, kv ...any) (*payload.Map, error) {
	v, err := m.ask(ctx, payload.M(kv...))
	out, _ := v.(*payload.Map)
	return out, err
}

// tree lists the paths of all actors of the daemon without its own name, and their nodes.
func (m *member) tree(ctx context.Context) (paths []string, nodes []*payload.Map, err error) {
	root, err := m.askMap(ctx, "cmd", "tree")
	if err != nil {
		return nil, nil, err
	}
	var walk func(n *payload.Map, path string)
	walk = func(n *payload.Map, path string) {
		for _, c := range n.List("children") {
			if child, ok := c.(*payload.Map); ok {
				p := filepath.Join(path, child.Str("name"))
				paths, nodes = append(paths, p), append(nodes, child)
				walk(child, p)
			}
		}
	}
	walk(root, "")
	return paths, nodes, nil
}
