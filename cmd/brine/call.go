package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"brine/cmd/keepalive"
)

// call is one start of a tool: its name as errors show it, its words, its streams.
type call struct {
	prog   string
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	parent *keepalive.Parent // starts this process anew when it dies; nil: nobody does

	ownSignals bool                   // the tool handles SIGINT and SIGTERM itself
	lastWords  atomic.Pointer[string] // further lines for stderr when Ctrl-C ends the tool
	cleanup    []func()               // run last, latest first
}

// run runs a tool to its end and returns the exit code.
func (c *call) run(tool func(*call) error) int {
	defer c.end()
	return c.finish(tool(c))
}

// end does what was registered for the end of the run.
func (c *call) end() {
	for i := len(c.cleanup) - 1; i >= 0; i-- {
		c.cleanup[i]()
	}
}

// watchSignals ends the process on SIGINT and SIGTERM as Salt's handler does, wherever the tool is: with a line on
// Ctrl-C, silently on SIGTERM, code 0. It begins once the command line is read, since it costs a thread.
func (c *call) watchSignals() {
	if c.ownSignals {
		return
	}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	go func() {
		if <-sig == os.Interrupt {
			text := "\nExiting gracefully on Ctrl-c\n"
			if more := c.lastWords.Load(); more != nil {
				text += *more
			}
			fmt.Fprint(c.stderr, text)
		}
		os.Exit(exitOK)
	}()
}

// atEnd registers work for the end of the tool's run. A signal that ends the process skips it.
func (c *call) atEnd(f func()) { c.cleanup = append(c.cleanup, f) }
