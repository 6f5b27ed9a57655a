package grains

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"brine/wire/payload"
)

// Timeout bounds each program and each question to a name server.
const Timeout = 5 * time.Second

// Host is the machine that grains are facts of, and the minion's options.
type Host struct {
	Opts       *payload.Map
	Version    string // Salt release the program answers as: "3008.3"
	ZMQVersion string // "" leaves the grain out

	root string
}

// NewHost is the host that options are about.
func NewHost(opt Options) *Host {
	h := &Host{Opts: opt.Opts, Version: opt.Version, ZMQVersion: opt.ZMQVersion, root: opt.Root}
	if h.root == "" {
		h.root = "/"
	}
	return h
}

// Path is a file of the host.
func (h *Host) Path(name string) string { return filepath.Join(h.root, name) }

// Read is the content of a file, "" when it cannot be read.
func (h *Host) Read(name string) string {
	b, err := os.ReadFile(h.Path(name))
	if err != nil {
		return ""
	}
	return string(b)
}

// Exists tells whether there is such a file.
func (h *Host) Exists(name string) bool {
	_, err := os.Stat(h.Path(name))
	return err == nil
}

// IsDir tells whether it is a directory.
func (h *Host) IsDir(name string) bool {
	fi, err := os.Stat(h.Path(name))
	return err == nil && fi.IsDir()
}

// IsFile tells whether it is a plain file.
func (h *Host) IsFile(name string) bool {
	fi, err := os.Stat(h.Path(name))
	return err == nil && fi.Mode().IsRegular()
}

// Enabled is an option that counts as true unless it says False.
func (h *Host) Enabled(name string) bool {
	v, ok := h.Opts.Value(name).(bool)
	return v || !ok
}

// Output runs a program and gives its standard output, trimmed at the end; ok is exit code 0.
func Output(name string, args ...string) (text string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	return runProgram(ctx, name, args...)
}

// Readable tells whether a file can be opened for reading.
func (h *Host) Readable(name string) bool {
	f, err := os.Open(h.Path(name))
	if err != nil {
		return false
	}
	return f.Close() == nil
}
