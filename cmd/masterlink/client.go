// Package masterlink is how a tool on the master's host reaches its master: the request port, the event bus, the
// control socket, keys and cache, with the credentials it needs and Salt's words for what fails. It answers to
// salt/client/__init__.py and salt/auth/__init__.py.
package masterlink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"brine/cmd/display"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/wire/client"
	"brine/wire/zmq"
)

// Texts that Salt's tools show when a job could not be sent.
const (
	TextMasterDown = "The salt master could not be contacted. Is master running?"
	TextTimedOut   = "Salt request timed out. The master is not responding. You may need to run your command with " +
		"`--async` " +
		"in order to bypass the congested event bus. With `--async`, the CLI tool will print the job id (jid) and exit " +
		"immediately without listening for responses. You can then use `salt-run jobs.lookup_jid` to look up the " +
		"results " +
		"of the job in the job cache later."
	TextRefused = "Failed to authenticate! This is most likely because this user is not permitted to execute commands, " +
		"but there is a small possibility that a disk error occurred (check disk/inode usage)."
	TextNobody = "No minions matched the target. No command was sent, no jid was assigned."
	textNoJID  = "Failed to connect to the Master, is the Salt Master running?"
)

// NewClient makes the connection of a client tool to its master. It ends with the process: to take its threads down
// in order would take longer than all the rest of a short run.
func NewClient(s *session.Session) *client.Client { return NewGatedClient(s, nil) }

// NewGatedClient is a client whose requests pass a gate: see client.Options.
func NewGatedClient(s *session.Session, gate client.Gate) *client.Client {
	m := s.Master
	opt := client.Options{
		Dial:    zmq.Dialer(zmq.ReqOptions{Endpoint: s.Client.MasterURI, IPv6: m.IPv6}),
		SockDir: m.SockDir, CacheDir: m.CacheDir, IPCMode: m.IPCMode,
		User: session.LoginName(), KeyOwner: m.User,
		ExtJobCache: m.ExtJobCache, Timeout: m.Timeout, GatherJobTimeout: m.GatherJobTimeout, SyndicWait: m.SyndicWait,
		OrderMasters: m.OrderMasters, Gate: gate, Logger: s.Log,
		Gone: func(ctx context.Context, jid string, ids []string) []string { return gone(ctx, s, jid, ids) },
		Standing: func(ctx context.Context, jid string, ids []string) client.Standing {
			return standing(ctx, s, jid, ids)
		},
	}
	if m.IPCMode == "tcp" {
		opt.EventPub = LoopbackAddr(m.TCPMasterPubPort)
		opt.EventPull = LoopbackAddr(m.TCPMasterPullPort)
	}
	return client.New(opt)
}

// LoopbackAddr is the address of a port of this machine.
func LoopbackAddr(port int) string {
	return "tcp://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// Refusal is a text that ends a job in place of returns. It goes where returns go, and the tool ends well.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// ClientError turns a failure to send a job into the text that Salt's tools show. Faults of this machine stay.
func ClientError(s *session.Session, err error) error {
	var remote *client.RemoteError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrNoMaster):
		s.Log.Error("Unable to connect to the salt master publisher at " + s.Master.SockDir)
		return &Refusal{TextMasterDown}
	case errors.Is(err, client.ErrTimeout), errors.Is(err, client.ErrNoBus):
		s.Log.Debug("master does not answer", "err", err)
		return &Refusal{TextTimedOut}
	case errors.Is(err, client.ErrEmptyReply):
		return &Refusal{TextRefused}
	case errors.As(err, &remote):
		return &Refusal{remote.Message}
	case errors.Is(err, client.ErrMalformed):
		return &Refusal{err.Error()}
	}
	return err
}

// Uncaught ends a tool where Salt's dies of an exception: the error is logged, the code is 1.
func Uncaught(s *session.Session, class string, err error) error {
	s.Log.Error(fmt.Sprintf("An un-handled exception was caught by Salt's global exception handler:\n%s: %s", class,
		err))
	return tool.Exit(tool.ExitGeneric, "")
}

// Published says what Salt's tools print about a job that nobody gets; ok is false then.
func Published(s *session.Session, pub client.Published) (ok bool) {
	switch {
	case pub.JID == "0":
		fmt.Fprintln(s.Stdout, textNoJID)
		return false
	case len(pub.Minions) == 0 && (!s.Master.OrderMasters || pub.JID == ""):
		fmt.Fprintln(s.Stdout, TextNobody)
		return false
	}
	return true
}

// InterruptText is what Ctrl-C says about a job under way.
func InterruptText(jid string) string {
	return fmt.Sprintf("This job's jid is: %s\n%s\n\nsalt-run jobs.lookup_jid %s\n", jid, TextStillRunning, jid)
}

// TextStillRunning introduces the command that finds late returns.
const TextStillRunning = "The minions may not have all finished running and any remaining minions will return upon " +
	"completion. " +
	"To look up the return data for this job later, run the following command:"

// PlainText is a text in the place of a result: it goes through the outputter like one.
func PlainText(s *session.Session, text string) error {
	return display.Show(s, strings.TrimSuffix(text, "\n"), display.How{Retcode: tool.ExitGeneric})
}
