package ipc

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

func TestPathTooLong(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	err := NewPullServer(PullOptions{Path: long}).Listen()
	if !errors.Is(err, ErrPathTooLong) || !strings.Contains(err.Error(), "the limit is 107") {
		t.Errorf("listen: %v", err)
	}
	if _, err := Dial(within(t), long); !errors.Is(err, ErrPathTooLong) {
		t.Errorf("dial: %v", err)
	}
	dir := t.TempDir()
	fits := filepath.Join(dir, strings.Repeat("x", maxPath-len(dir)-1))
	s := NewPullServer(PullOptions{Path: fits})
	if err := s.Listen(); err != nil {
		t.Errorf("a path of %d bytes: %v", len(fits), err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestDialGivesUp: the error is the cause of ctx, whether ctx ends before or after there is a connection.
func TestDialGivesUp(t *testing.T) {
	c, _ := newControl(t, nil)
	ctx, cancel := context.WithCancelCause(within(t))
	cancel(errStop)
	if _, err := c.Do(ctx, payload.M("cmd", "echo")); !errors.Is(err, errStop) {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
		s := NewPubServer(PubOptions{Path: sock(t), Mode: mode})
		if err := s.Listen(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.opt.Path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, mode)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStaleSocket(t *testing.T) {
	path := sock(t)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	s := NewPullServer(PullOptions{Path: path})
	if err := s.Listen(); !errors.Is(err, ErrInUse) {
		t.Errorf("a served socket: %v", err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Errorf("a socket that nobody serves: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // Salt leaves such files
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); !errors.Is(err, ErrInUse) {
		t.Errorf("somebody's file: %v", err)
	}
	if err := NewPullServer(PullOptions{Path: filepath.Join(path, "below")}).Listen(); err == nil {
		t.Error("listening below a file")
	}
}

func TestServeWithoutListen(t *testing.T) {
	for name, err := range map[string]error{
		"pull":    NewPullServer(PullOptions{}).Serve(within(t), nil),
		"pub":     NewPubServer(PubOptions{}).Serve(within(t)),
		"control": NewControlServer(ControlOptions{}).Serve(within(t), nil),
	} {
		if !errors.Is(err, ErrNotListening) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := NewPullServer(PullOptions{}).Close(); err != nil {
		t.Errorf("close of what does not listen: %v", err)
	}
}
