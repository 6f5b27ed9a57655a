// Package tool is one start of a tool: its words and streams, its exit code, its version. It knows no options and no
// configuration: see cmd/options and cmd/session. It answers to salt/defaults/exitcodes.py and salt/version.py.
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

// Call is one start of a tool: its name as errors show it, its words, its streams.
type Call struct {
	Prog   string
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Parent *keepalive.Parent // starts this process anew when it dies; nil: nobody does

	OwnSignals bool                   // the tool handles SIGINT and SIGTERM itself
	LastWords  atomic.Pointer[string] // further lines for stderr when Ctrl-C ends the tool
	cleanup    []func()               // Run last, latest first
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

// End does what was registered for the end of the run.
func (c *Call) End() {
	for i := len(c.cleanup) - 1; i >= 0; i-- {
		c.cleanup[i]()
	}
}

// WatchSignals ends the process on SIGINT and SIGTERM as Salt's handler does, wherever the tool is: with a line on
// Ctrl-C, silently on SIGTERM, code 0. It begins once the command line is read, since it costs a thread.
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

// AtEnd registers work for the end of the tool's run. A signal that ends the process skips it.
func (c *Call) AtEnd(f func()) { c.cleanup = append(c.cleanup, f) }
