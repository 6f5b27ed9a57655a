package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// call is one start of a tool: its name as errors show it, its words, its streams.
type call struct {
	prog   string
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	atInterrupt func() string // further lines for stderr when Ctrl-C ends the tool
	cleanup     []func()      // run last, latest first
}

// run runs a tool to its end and returns the exit code.
func (c *call) run(t tool) int {
	defer func() {
		for i := len(c.cleanup) - 1; i >= 0; i-- {
			c.cleanup[i]()
		}
	}()
	if t.signals {
		return c.finish(t.run(c))
	}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(sig)
	done := make(chan error, 1)
	go func() { done <- t.run(c) }()
	select {
	case err := <-done:
		return c.finish(err)
	case s := <-sig:
		return c.interrupted(s)
	}
}

// interrupted ends a tool as Salt's signal handler does: with a line on Ctrl-C, silently on SIGTERM, code 0.
func (c *call) interrupted(s os.Signal) int {
	if s == os.Interrupt {
		text := "\nExiting gracefully on Ctrl-c\n"
		if c.atInterrupt != nil {
			text += c.atInterrupt()
		}
		fmt.Fprint(c.stderr, text)
	}
	return exitOK
}

// atEnd registers work for the very end of the tool, whatever ends it short of a kill.
func (c *call) atEnd(f func()) { c.cleanup = append(c.cleanup, f) }
