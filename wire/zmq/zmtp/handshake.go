package zmtp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

const (
	greetingSize = 64
	majorVersion = 3
	maxIdentity  = 255
)

// greeting is what either side sends first:
//
//	0xFF | 8 bytes of padding | 0x7F | major | minor | mechanism (20) | as-server | filler (31)
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10], g[11] = 0xFF, 0x7F, majorVersion, 1
	copy(g[12:], "NULL")
	return g
}

// checkGreeting looks at as much of a greeting as has come, so that a stranger is known by its first byte.
func checkGreeting(g []byte) error {
	switch {
	case len(g) > 0 && g[0] != 0xFF, len(g) > 9 && g[9]&1 == 0:
		return fmt.Errorf("%w: not a greeting", ErrProtocol)
	case len(g) > 10 && g[10] < majorVersion:
		return fmt.Errorf("%w: version %d", ErrProtocol, g[10])
	case len(g) >= 32 && string(bytes.TrimRight(g[12:32], "\x00")) != "NULL":
		return fmt.Errorf("%w: mechanism %q", ErrProtocol, g[12:32])
	}
	return nil
}

// Names of the commands. On the wire a name stands behind its length in one byte.
const (
	cmdReady     = "READY"
	cmdError     = "ERROR"
	cmdPing      = "PING"
	cmdPong      = "PONG"
	cmdSubscribe = "SUBSCRIBE"
	cmdCancel    = "CANCEL"
)

func command(name string, args ...[]byte) []byte {
	body := append([]byte{byte(len(name))}, name...)
	for _, arg := range args {
		body = append(body, arg...)
	}
	return appendFrame(nil, flagCommand, body)
}

// cutCommand splits the body of a command frame.
func cutCommand(body []byte) (name string, args []byte, err error) {
	if len(body) == 0 || len(body) < 1+int(body[0]) {
		return "", nil, fmt.Errorf("%w: command without a name", ErrProtocol)
	}
	n := 1 + int(body[0])
	return string(body[1:n]), body[n:], nil
}

// ready is our side of the handshake.
func ready(socketType string) []byte {
	return command(cmdReady, property("Socket-Type", socketType))
}

// property is length (1) | name | length (4) | value.
func property(name, value string) []byte {
	p := append([]byte{byte(len(name))}, name...)
	p = binary.BigEndian.AppendUint32(p, uint32(len(value)))
	return append(p, value...)
}

// readReady reads the properties of a READY command that matter. Names ignore case.
func readReady(args []byte) (socketType, identity string, err error) {
	for len(args) > 0 {
		name, value, rest, ok := cutProperty(args)
		if !ok {
			return "", "", fmt.Errorf("%w: metadata cut short", ErrProtocol)
		}
		switch strings.ToLower(name) {
		case "socket-type":
			socketType = value
		case "identity":
			identity = value
		}
		args = rest
	}
	if len(identity) > maxIdentity {
		return "", "", fmt.Errorf("%w: identity of %d bytes", ErrProtocol, len(identity))
	}
	return socketType, identity, nil
}

func cutProperty(b []byte) (name, value string, rest []byte, ok bool) {
	n := int(b[0])
	if len(b) < 1+n+4 {
		return "", "", nil, false
	}
	name, b = string(b[1:1+n]), b[1+n:]
	size := uint64(binary.BigEndian.Uint32(b))
	if uint64(len(b)-4) < size {
		return "", "", nil, false
	}
	return name, string(b[4 : 4+size]), b[4+size:], true
}
