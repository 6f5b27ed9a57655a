package websocket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kinds of frames (RFC 6455, 5.2).
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

const (
	bitFinal   = 0x80
	bitsRsv    = 0x70
	bitControl = 0x08
	bitMask    = 0x80
	controlMax = 125 // bytes in a control frame
)

// Statuses with which a connection is closed (RFC 6455, 7.4.1).
const (
	StatusNormal   = 1000
	StatusGone     = 1001
	StatusProtocol = 1002
	StatusKind     = 1003
	StatusText     = 1007
	StatusPolicy   = 1008
	StatusTooBig   = 1009
	StatusFailed   = 1011
)

// A ProtocolError is a fault of the client.
type ProtocolError struct {
	Status int
	Reason string
}

// Error is the reason.
func (e *ProtocolError) Error() string { return "websocket: " + e.Reason }

func fault(status int, format string, args ...any) error {
	return &ProtocolError{status, fmt.Sprintf(format, args...)}
}

// AppendText appends a frame of text, made of parts, as it goes to clients.
func AppendText(dst []byte, parts ...string) []byte {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	dst = appendHead(dst, opText, n)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return dst
}

func appendHead(dst []byte, op byte, n int) []byte {
	dst = append(dst, bitFinal|op)
	switch {
	case n <= controlMax:
		return append(dst, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(dst, 126), uint16(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, 127), uint64(n))
}

func appendControl(dst []byte, op byte, data []byte) []byte {
	return append(appendHead(dst, op, len(data)), data...)
}

// frame is what stands before the bytes of a frame.
type frame struct {
	op    byte
	final bool
	size  uint64
	mask  [4]byte
}

func (f frame) control() bool { return f.op&bitControl != 0 }

// readFrame reads the head of a frame of a client. Errors are those of r, or a *ProtocolError.
func readFrame(r io.Reader) (f frame, err error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:2]); err != nil {
		return f, err
	}
	f.op, f.final = b[0]&0x0f, b[0]&bitFinal != 0
	masked, short := b[1]&bitMask != 0, b[1]&^bitMask
	switch {
	case b[0]&bitsRsv != 0:
		return f, fault(StatusProtocol, "reserved bits are set")
	case f.op > opBinary && f.op < opClose || f.op > opPong:
		return f, fault(StatusProtocol, "frame of unknown kind %d", f.op)
	case !masked:
		return f, fault(StatusProtocol, "frame of a client without mask")
	case f.control() && (!f.final || short > controlMax):
		return f, fault(StatusProtocol, "control frame in parts, or too long")
	}
	if f.size, err = readSize(r, short); err != nil {
		return f, err
	}
	_, err = io.ReadFull(r, f.mask[:])
	return f, err
}

func readSize(r io.Reader, short byte) (uint64, error) {
	var b [8]byte
	switch short {
	case 126:
		_, err := io.ReadFull(r, b[:2])
		return uint64(binary.BigEndian.Uint16(b[:2])), err
	case 127:
		_, err := io.ReadFull(r, b[:])
		return binary.BigEndian.Uint64(b[:]), err
	}
	return uint64(short), nil
}

// unmask takes the mask off in place.
func unmask(data []byte, mask [4]byte) {
	for i := range data {
		data[i] ^= mask[i&3]
	}
}

// statusOf is the status with which a connection is closed for an error; 0: it is closed without a word.
func statusOf(err error) int {
	var bad *ProtocolError
	if errors.As(err, &bad) {
		return bad.Status
	}
	return 0
}
