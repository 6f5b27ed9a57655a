package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/optparse"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// clientRun is a client tool that has read its command line and a configuration of the test's own.
type clientRun struct {
	*session
	out, err *bytes.Buffer
}

// openClient opens the session of a client tool. conf is added to the master's file.
func openClient(t *testing.T, parser func(*call) *optparse.Parser, conf string, argv ...string) (*clientRun, error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	text := fmt.Sprintf("root_dir: %s\nuser: %s\ninterface: 127.0.0.1\n%s", filepath.Join(dir, "root"), runningUser(), conf)
	if err := os.WriteFile(filepath.Join(dir, "master"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &clientRun{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	c := &call{prog: "salt", args: append([]string{"-c", dir}, argv...), stdin: strings.NewReader(""), stdout: r.out, stderr: r.err, ownSignals: true}
	t.Cleanup(c.end)
	s, err := c.open(parser(c), opening{role: roleClient})
	r.session = s
	return r, err
}

// mustOpen opens the session of a tool whose command line is right.
func mustOpen(t *testing.T, parser func(*call) *optparse.Parser, conf string, argv ...string) *clientRun {
	t.Helper()
	r, err := openClient(t, parser, conf, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// packed is a map as bytes, so that the order of keys counts and types of numbers do not.
func packed(t *testing.T, m *payload.Map) string {
	t.Helper()
	raw, err := payload.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func writeIn(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// serveControl answers on the control socket of a session's master until the test ends.
func serveControl(t *testing.T, s *session, answer func(*payload.Map) (*payload.Map, error)) {
	t.Helper()
	if err := os.MkdirAll(s.master.SockDir, 0o755); err != nil {
		t.Fatal(err)
	}
	server := ipc.NewControlServer(ipc.ControlOptions{Path: filepath.Join(s.master.SockDir, controlSocket)})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(ctx, func(_ context.Context, _ ipc.Peer, q *payload.Map) (*payload.Map, error) { return answer(q) })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
