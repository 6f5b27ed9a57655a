package master

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"brine/wire/payload"
)

// TestFilesOfTheDeaf: minions that ask for many pieces and read none of the answers take the memory that is sent from,
// and nothing else: another one gets its pieces, whole, meanwhile and after they have gone.
func TestFilesOfTheDeaf(t *testing.T) {
	dir := t.TempDir()
	text := make([]byte, 6<<20+12345)
	rand.Read(text)
	if err := os.WriteFile(filepath.Join(dir, "large"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, fmt.Sprintf("file_roots: {base: [%s]}", dir), noPillar(t))
	honest, thief := r.minion("honest"), r.minion("thief")
	serve := func(loc int) *payload.Map { return cmd("_serve_file", "path", "large", "saltenv", "base", "loc", loc) }
	fetch := func() {
		t.Helper()
		for loc := 0; loc < len(text); {
			frame, nonce, err := honest.SealShared(serve(loc))
			if err != nil {
				t.Fatal(err)
			}
			v, err := honest.OpenShared(honest.do(frame), nonce, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := v.(*payload.Map)
			data := m.Bytes("data")
			if len(data) == 0 || !bytes.HasPrefix(text[loc:], data) {
				t.Fatalf("%d other bytes at %d", len(data), loc)
			}
			loc += len(data)
		}
	}
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	var deaf []net.Conn
	for range 3 {
		c, err := small.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.cfg.RetPort))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		deaf = append(deaf, c)
		_, err = c.Write(zmtpHello())
		for range 12 { // megabytes, of which the network holds a few
			if err != nil {
				break // the master has ended the connection, as it may
			}
			frame, _, sealErr := thief.SealShared(serve(0))
			if sealErr != nil {
				t.Fatal(sealErr)
			}
			_, err = c.Write(zmtpRequest(frame))
		}
	}
	for range 3 {
		fetch()
	}
	for _, c := range deaf {
		_ = c.Close()
	}
	for range 3 {
		fetch()
	}
}

// zmtpHello is what a DEALER of ZMTP 3.0 without security says first (rfc.zeromq.org/spec/23).
func zmtpHello() []byte {
	hello := slices.Concat([]byte{0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0}, []byte("NULL"), make([]byte, 16),
		make([]byte, 32))
	ready := []byte("\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER")
	return slices.Concat(hello, []byte{4, byte(len(ready))}, ready)
}

// zmtpRequest is a request of less than 64 KiB.
func zmtpRequest(frame []byte) []byte {
	return slices.Concat([]byte{1, 0}, []byte{2, 0, 0, 0, 0, 0, 0, byte(len(frame) >> 8), byte(len(frame))}, frame)
}
