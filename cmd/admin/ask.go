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

// stateTimeout bounds the search for the reason why a daemon does not answer.
const stateTimeout = time.Second

// ask asks the daemon one question.
func ask[A any, Q control.Question[A]](a *adminTool, q Q) (A, error) {
	return askWithin(context.Background(), a, q, control.AskTimeout)
}

// askWithin sends the daemon a question with a deadline. A daemon that is frozen until after the deadline does
// not act on the question any more.
func askWithin[A any, Q control.Question[A]](ctx context.Context, a *adminTool, q Q, limit time.Duration) (answer A,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err = control.Ask(ctx, control.At(a.Common.SockDir), q)
	return answer, a.unanswerable(err, limit)
}

// askMap is ask for questions that must have an answer.
func askMap[Q control.Question[*payload.Map]](a *adminTool, q Q) (*payload.Map, error) {
	m, err := ask(a, q)
	if err == nil && m == nil {
		err = a.unanswerable(control.ErrAnswer, control.AskTimeout)
	}
	return m, err
}

// unanswerable returns the error with which the tool ends if a question has no answer.
func (a *adminTool) unanswerable(err error, limit time.Duration) error {
	var remote *ipc.RemoteError
	var version *control.VersionError
	path := control.At(a.Common.SockDir).Path()
	switch {
	case err == nil:
		return nil
	case errors.As(err, &remote):
		return tool.Exit(tool.ExitGeneric, "brine: %s", strings.Replace(remote.Text, "admin: ", "", 1))
	case errors.As(err, &version):
		return tool.Exit(tool.ExitGeneric, "brine: %s", version)
	case errors.Is(err, control.ErrAnswer):
		return tool.Exit(tool.ExitGeneric, "brine: the daemon's answer cannot be read")
	case errors.Is(err, os.ErrPermission):
		return tool.Exit(tool.ExitUnavailable, "brine: user %s may not open %s", session.RunningUser(), path)
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Exit(tool.ExitUnavailable, "brine: %s", a.unanswered(limit))
	}
	return tool.Exit(tool.ExitUnavailable, "brine: %sno daemon answers on %s: %s", a.unread(), path, unreached(err))
}

// unreached says why no daemon can be asked.
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

// unread warns that the configuration could not be read, and that the socket therefore follows the defaults.
func (a *adminTool) unread() string {
	_, err := os.ReadFile(a.Common.ConfFile)
	var file *os.PathError
	if !errors.As(err, &file) || errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return fmt.Sprintf("user %s cannot read %s (%s); with the defaults ", session.RunningUser(), file.Path, file.Err)
}

// unanswered describes the process of a daemon that does not answer on its socket, as the system knows it.
func (a *adminTool) unanswered(limit time.Duration) string {
	text, path := fmt.Sprintf("the daemon did not answer within %s", limit), control.At(a.Common.SockDir).Path()
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	conn, err := ipc.Dial(ctx, path)
	if err != nil {
		return text + " on " + path
	}
	defer conn.Close()
	peer, err := ipc.PeerOf(conn)
	if err != nil {
		return text + " on " + path
	}
	switch stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", peer.PID)); processState(stat) {
	case 'T', 't':
		return fmt.Sprintf("%s: its process %d is stopped; kill -CONT %d lets it go on (%s)", text, peer.PID, peer.PID,
			path)
	case 'D':
		return fmt.Sprintf("%s: its process %d waits for a disk or the like (%s)", text, peer.PID, path)
	}
	return fmt.Sprintf("%s: its process %d hangs, or the machine is overloaded (%s)", text, peer.PID, path)
}

// processState returns the letter for the state of a process from its stat file, or 0 if there is none. The
// name before it may contain any characters.
func processState(stat []byte) byte {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	if words := bytes.Fields(rest); len(words) > 0 {
		return words[0][0]
	}
	return 0
}
