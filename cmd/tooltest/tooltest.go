// Package tooltest opens tools for tests, with a separate configuration and readable outputs. For tests only.
package tooltest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/wire/payload"
)

// Client is a client tool that has read its command line and a separate configuration.
type Client struct {
	*session.Session
	Out, Err *bytes.Buffer
}

// Open opens the session of a client tool. conf is added to the master's file.
func Open(t *testing.T, parser func(*tool.Call) *optparse.Parser, conf string, argv ...string) (*Client, error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	text := fmt.Sprintf("root_dir: %s\nuser: %s\ninterface: 127.0.0.1\n%s", filepath.Join(dir, "root"),
		session.RunningUser(), conf)
	if err := os.WriteFile(filepath.Join(dir, "master"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Client{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	c := &tool.Call{Prog: "salt", Args: append([]string{"-c", dir}, argv...), Stdin: strings.NewReader(""),
		Stdout: r.Out, Stderr: r.Err, OwnSignals: true}
	t.Cleanup(c.End)
	s, err := session.Open(c, parser(c), session.Opening{Role: session.RoleClient})
	r.Session = s
	return r, err
}

// MustOpen opens the session of a tool with a valid command line.
func MustOpen(t *testing.T, parser func(*tool.Call) *optparse.Parser, conf string, argv ...string) *Client {
	t.Helper()
	r, err := Open(t, parser, conf, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Packed encodes a map, so that a comparison depends on the order of keys and not on the types of numbers.
func Packed(t *testing.T, m *payload.Map) string {
	t.Helper()
	raw, err := payload.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// WriteIn writes a file, and makes its folders.
func WriteIn(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
