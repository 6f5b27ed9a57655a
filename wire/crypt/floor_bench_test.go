package crypt

import (
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

const (
	floorPiece = 1 << 20 // file_buffer_size
	floorSize  = 64 << 20
)

// BenchmarkFloor measures the processor time of only those steps that the protocol demands for a piece of a file, on
// both sides: read, seal, send by TCP through the loopback, check the MAC, open, hash, and write past the page cache.
// Two pieces are sealed in lanes. The metric is ms of processor time per MB that arrives (decision 0049).
func BenchmarkFloor(b *testing.B) {
	dir, box := b.TempDir(), newTestBox(b)
	source := filepath.Join(dir, "source")
	text := make([]byte, floorSize)
	rand.Read(text)
	if err := os.WriteFile(source, text, 0o600); err != nil {
		b.Fatal(err)
	}
	from, err := os.Open(source)
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	sender, receiver := loopback(b)
	to, err := os.OpenFile(filepath.Join(dir, "copy"), os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
	if err != nil {
		b.Skip(err)
	}
	defer to.Close()
	began, total := used(), 0
	for b.Loop() {
		done := make(chan error, 1)
		go func() { done <- fetchAll(box, receiver, to) }()
		if err := sendAll(box, from, sender); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		total += floorSize
	}
	b.ReportMetric(float64((used()-began).Microseconds())/1e3/(float64(total)/(1<<20)), "ms/MB")
}

func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func loopback(b *testing.B) (sender, receiver net.Conn) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if sender, err = net.Dial("tcp", l.Addr().String()); err == nil {
		receiver, err = l.Accept()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = sender.Close(); _ = receiver.Close() })
	return sender, receiver
}

// sendAll seals pieces two at a time and sends them.
func sendAll(box *Box, from *os.File, to io.Writer) error {
	rooms := [2][]byte{make([]byte, SealedSize(floorPiece, 0)), make([]byte, SealedSize(floorPiece, 0))}
	for at := int64(0); at < floorSize; at += 2 * floorPiece {
		for i, room := range rooms {
			if _, err := from.ReadAt(room[Lead(0):Lead(0)+floorPiece], at+int64(i*floorPiece)); err != nil {
				return err
			}
			rand.Read(room[:16])
		}
		sealPieces(box, rooms)
		for _, room := range rooms {
			if _, err := to.Write(room); err != nil {
				return err
			}
		}
	}
	return nil
}

// sealPieces seals both; without lanes one after the other.
func sealPieces(box *Box, rooms [2][]byte) {
	end := Lead(0) + floorPiece
	if !haveLanes() {
		box.finish(rooms[0], "", end, nil)
		box.finish(rooms[1], "", end, nil)
		return
	}
	p := &Pairs{most: 1, sealing: 1}
	done := make(chan struct{})
	for _, room := range rooms {
		go func() { box.finish(room, "", end, p); done <- struct{}{} }()
	}
	for waiting := 0; waiting < 2; runtime.Gosched() {
		p.mu.Lock()
		waiting = len(p.waiting)
		p.mu.Unlock()
	}
	p.next()
	<-done
	<-done
}

// fetchAll opens pieces, hashes and writes them.
func fetchAll(box *Box, from io.Reader, to *os.File) error {
	room := make([]byte, SealedSize(floorPiece, 0)+4096)
	skip := -(int(uintptr(unsafe.Pointer(&room[0]))) + Lead(0)) & 4095 // so that the payload begins at a page boundary
	room = room[skip : skip+SealedSize(floorPiece, 0)]
	sum := sha256.New()
	for at := int64(0); at < floorSize; at += floorPiece {
		if _, err := io.ReadFull(from, room); err != nil {
			return err
		}
		data, err := box.OpenInPlace(room, "", nil)
		if err != nil {
			return err
		}
		sum.Write(data)
		if _, err := to.WriteAt(data, at); err != nil {
			return err
		}
	}
	return nil
}
