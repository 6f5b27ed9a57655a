package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"brine/wire/client"
	"brine/wire/zmq"
)

// Texts that Salt's tools show when a job could not be sent.
const (
	textMasterDown = "The salt master could not be contacted. Is master running?"
	textTimedOut   = "Salt request timed out. The master is not responding. You may need to run your command with `--async` " +
		"in order to bypass the congested event bus. With `--async`, the CLI tool will print the job id (jid) and exit " +
		"immediately without listening for responses. You can then use `salt-run jobs.lookup_jid` to look up the results " +
		"of the job in the job cache later."
	textRefused = "Failed to authenticate! This is most likely because this user is not permitted to execute commands, " +
		"but there is a small possibility that a disk error occurred (check disk/inode usage)."
	textNobody = "No minions matched the target. No command was sent, no jid was assigned."
	textNoJID  = "Failed to connect to the Master, is the Salt Master running?"
)

// masterClient makes the connection of a client tool to its master. It ends with the process: to take its threads down
// in order would take longer than all the rest of a short run.
func (s *session) masterClient() *client.Client {
	m := s.master
	opt := client.Options{
		MasterURI: s.client.MasterURI, SockDir: m.SockDir, CacheDir: m.CacheDir, IPCMode: m.IPCMode,
		User: loginName(), KeyOwner: m.User,
		Timeout: m.Timeout, GatherJobTimeout: m.GatherJobTimeout, SyndicWait: m.SyndicWait, OrderMasters: m.OrderMasters,
		Socket: zmq.ReqOptions{IPv6: m.IPv6}, Logger: s.log, Gone: s.gone, Standing: s.standing,
	}
	if m.IPCMode == "tcp" {
		opt.EventPub = loopbackAddr(m.TCPMasterPubPort)
		opt.EventPull = loopbackAddr(m.TCPMasterPullPort)
	}
	return client.New(opt)
}

func loopbackAddr(port int) string {
	return "tcp://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// refusal is a text that ends a job in place of returns. It goes where returns go, and the tool ends well.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// clientError turns a failure to send a job into the text that Salt's tools show. Faults of this machine stay.
func (s *session) clientError(err error) error {
	var remote *client.RemoteError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrNoMaster):
		s.log.Error("Unable to connect to the salt master publisher at " + s.master.SockDir)
		return &refusal{textMasterDown}
	case errors.Is(err, client.ErrTimeout), errors.Is(err, client.ErrNoBus):
		s.log.Debug("master does not answer", "err", err)
		return &refusal{textTimedOut}
	case errors.Is(err, client.ErrEmptyReply):
		return &refusal{textRefused}
	case errors.As(err, &remote):
		return &refusal{remote.Message}
	case errors.Is(err, client.ErrMalformed):
		return &refusal{err.Error()}
	}
	return err
}

// uncaught ends a tool where Salt's dies of an exception: the error is logged, the code is 1.
func (s *session) uncaught(class string, err error) error {
	s.log.Error(fmt.Sprintf("An un-handled exception was caught by Salt's global exception handler:\n%s: %s", class, err))
	return exit(exitGeneric, "")
}

// published says what Salt's tools print about a job that nobody gets; ok is false then.
func (s *session) published(pub client.Published) (ok bool) {
	switch {
	case pub.JID == "0":
		fmt.Fprintln(s.stdout, textNoJID)
		return false
	case len(pub.Minions) == 0 && (!s.master.OrderMasters || pub.JID == ""):
		fmt.Fprintln(s.stdout, textNobody)
		return false
	}
	return true
}

// interruptText is what Ctrl-C says about a job under way.
func interruptText(jid string) string {
	return fmt.Sprintf("This job's jid is: %s\n%s\n\nsalt-run jobs.lookup_jid %s\n", jid, textStillRunning, jid)
}

// textStillRunning introduces the command that finds late returns.
const textStillRunning = "The minions may not have all finished running and any remaining minions will return upon completion. " +
	"To look up the return data for this job later, run the following command:"

// plainText is a text in the place of a result: it goes through the outputter like one.
func (s *session) plainText(text string) error {
	return s.display(strings.TrimSuffix(text, "\n"), show{retcode: exitGeneric})
}
