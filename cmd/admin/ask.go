package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// stateTimeout bounds the look at why a daemon does not answer.
const stateTimeout = time.Second

// ask sends one command and returns its result.
func (a *adminTool) ask(request *payload.Map) (any, error) {
	return a.askWithin(context.Background(), request, control.AskTimeout)
}

// askWithin tells the daemon until when it may do what is asked: one that is frozen meanwhile does it no more.
func (a *adminTool) askWithin(ctx context.Context, request *payload.Map, limit time.Duration) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request.Set("until", time.Now().Add(limit).UnixMicro())
	reply, err := ipc.NewControlClient(a.path).Do(ctx, request)
	var remote *ipc.RemoteError
	switch {
	case errors.As(err, &remote):
		return nil, tool.Exit(tool.ExitGeneric, "brine: %s", strings.Replace(remote.Text, "admin: ", "", 1))
	case errors.Is(err, os.ErrPermission):
		return nil, tool.Exit(tool.ExitUnavailable, "brine: user %s may not open %s", session.RunningUser(), a.path)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, tool.Exit(tool.ExitUnavailable, "brine: %s", a.unanswered(limit))
	case err != nil:
		return nil, tool.Exit(tool.ExitUnavailable, "brine: %sno daemon answers on %s: %s", a.unread(), a.path, unreached(err))
	}
	return reply.Value("result"), nil
}

// askMap is ask for commands that answer with a map.
func (a *adminTool) askMap(request *payload.Map) (*payload.Map, error) {
	v, err := a.ask(request)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return nil, tool.Exit(tool.ExitGeneric, "brine: the daemon's answer cannot be read; is it of another version?")
	}
	return m, nil
}

// unreached says why there is nobody to ask.
func unreached(err error) string {
	var number syscall.Errno
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "there is no such socket. Is the daemon started, and is this its configuration directory?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there. Is the daemon started?"
	case errors.As(err, &number):
		return number.Error()
	}
	return err.Error()
}

// unread says of a configuration that could not be read that the socket is not the one it names.
func (a *adminTool) unread() string {
	_, err := os.ReadFile(a.Common.ConfFile)
	var file *os.PathError
	if !errors.As(err, &file) || errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return fmt.Sprintf("user %s cannot read %s (%s); with the defaults ", session.RunningUser(), file.Path, file.Err)
}

// unanswered says of a daemon that lets its socket wait what the system knows of its process.
func (a *adminTool) unanswered(limit time.Duration) string {
	text := fmt.Sprintf("the daemon did not answer within %s", limit)
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	conn, err := ipc.Dial(ctx, a.path)
	if err != nil {
		return text + " on " + a.path
	}
	defer conn.Close()
	peer, err := ipc.PeerOf(conn)
	if err != nil {
		return text + " on " + a.path
	}
	switch stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", peer.PID)); processState(stat) {
	case 'T', 't':
		return fmt.Sprintf("%s: its process %d is stopped; kill -CONT %d lets it go on (%s)", text, peer.PID, peer.PID, a.path)
	case 'D':
		return fmt.Sprintf("%s: its process %d waits for a disk or the like (%s)", text, peer.PID, a.path)
	}
	return fmt.Sprintf("%s: its process %d hangs, or the machine is overloaded (%s)", text, peer.PID, a.path)
}

// processState is the letter for the state of a process in its stat file, 0 when there is none. The name before it may
// hold anything.
func processState(stat []byte) byte {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	if words := bytes.Fields(rest); len(words) > 0 {
		return words[0][0]
	}
	return 0
}
