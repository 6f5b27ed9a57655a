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
	"unsafe"

	"brine/wire/payload"
)

// lent has all that a scratch lends be on its way, or back. It tells whether there is such memory: with the race
// detector there is none.
func lent(s *scratch, out int32) bool {
	mapped := false
	for range cap(s.loans) {
		l := <-s.loans
		if l.room(64 << 10); l.mapped {
			mapped = true
			l.out.Store(out)
		}
		s.loans <- l
	}
	return mapped
}

// TestScratchLoans: an answer is packed where it can be sent from, as long as that is free, and elsewhere when peers do
// not read; memory that is on its way is neither given out, nor given back.
func TestScratchLoans(t *testing.T) {
	s := newScratch()
	if !lent(s, 0) {
		t.Skip("no memory outside of Go's heap in this build")
	}
	place := s.take(pieceOf(64 << 10))
	frame := append(place.room, "text"...)
	if out := place.lends(frame); out == nil || place.lends(bytes.Clone(frame)) != nil || place.lends(nil) != nil {
		t.Error("an answer in lent memory is not known by its place")
	}
	place.leave(frame)
	for range 2 * cap(s.loans) {
		l := <-s.loans
		text := append(l.room(64<<10), "on its way"...)
		l.out.Store(1)
		for range 3 {
			l.rest()
		}
		if string(text) != "on its way" {
			t.Fatalf("memory on its way was given back: %q", text)
		}
		s.loans <- l
	}
	for range 4 * cap(s.loans) {
		place := s.take(pieceOf(64 << 10))
		if place.lends(append(place.room, 1)) != nil {
			t.Fatal("memory on its way was given out")
		}
		place.leave(nil)
	}
	lent(s, 0)
	for range 2 * cap(s.loans) {
		place := s.take(pieceOf(64 << 10))
		if place.lends(append(place.room, 1)) == nil {
			t.Fatal("memory that is back is not lent again")
		}
		place.leave(nil)
	}
	if place := s.take(pieceOf(mostScratch)); place.lends(place.room[:1]) != nil {
		t.Error("too large an answer stands in memory that is kept")
	}
}

// TestSlabOnItsWay: the memory of a slab that nobody knows any more stays while libzmq sends from it.
func TestSlabOnItsWay(t *testing.T) {
	s := newSlab(true)
	if s.room(4096); !s.mapped {
		t.Skip("no memory outside of Go's heap in this build")
	}
	mem := unsafe.Slice(unsafe.SliceData(s.mem), len(s.mem)+slabTail)
	copy(mem, "text")
	s.out.Store(1)
	unmapSlab(mem)
	if string(mem[:4]) != "text" {
		t.Error("it was given back")
	}
	s.out.Store(0)
	s.drop()
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
