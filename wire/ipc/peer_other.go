//go:build !linux

package ipc

import "net"

// PeerOf always fails on this system.
func PeerOf(net.Conn) (Peer, error) { return Peer{}, errNoPeer }
