// Package tool is one start of a tool: its arguments and streams, its exit code, its version. It knows no
// options and no configuration: see cmd/options and cmd/session. It answers to salt/defaults/exitcodes.py and
// salt/version.py.
package tool

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"brine/cmd/keepalive"
)

// Call is one start of a tool: its name in errors, its arguments, its streams.
type Call struct {
	Prog   string
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Parent *keepalive.Parent // starts this process again if it dies; nil: no parent

	OwnSignals bool                   // the tool handles SIGINT and SIGTERM itself
	LastWords  atomic.Pointer[string] // further lines for stderr if Ctrl-C ends the tool
	cleanup    []func()               // run at the end, latest first
}

// Run runs a tool to its end and returns the exit code.
func (c *Call) Run(tool func(*Call) error) int {
	defer c.End()
	err := tool(c)
	if MayPass(err) {
		c.Parent.Again()
	}
	return c.Finish(err)
}

// End runs the functions that AtEnd registered.
func (c *Call) End() {
	for i := len(c.cleanup) - 1; i >= 0; i-- {
		c.cleanup[i]()
	}
}

// WatchSignals ends the process on SIGINT and SIGTERM as Salt's handler does, at any point of the tool: with a
// line after Ctrl-C, silently after SIGTERM, with code 0. It starts after the command line is read, because it
// costs a thread.
func (c *Call) WatchSignals() {
	if c.OwnSignals {
		return
	}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	go func() {
		if <-sig == os.Interrupt {
			text := "\nExiting gracefully on Ctrl-c\n"
			if more := c.LastWords.Load(); more != nil {
				text += *more
			}
			fmt.Fprint(c.Stderr, text)
		}
		os.Exit(ExitOK)
	}()
}

// AtEnd registers a function for the end of the tool. If a signal ends the process, the function does not run.
func (c *Call) AtEnd(f func()) { c.cleanup = append(c.cleanup, f) }
