// Package zmtp is the serving side of ZeroMQ's wire protocol, ZMTP 3.0 and 3.1 with the NULL mechanism: it
// accepts connections, greets, cuts the streams into messages, answers PING and writes what it is given.
//
// One goroutine serves a whole port. A connection costs a few hundred bytes and a descriptor: no goroutine, no
// buffer while nothing is under way. A peer that sends garbage, stops in the middle or does not read costs its
// own connection, and no more memory than it sends.
//
// It knows no socket types beyond their names: who gets which message is decided by wire/zmq. See RFC 23 and 37
// of ZeroMQ (ZMTP 3.0, 3.1).
package zmtp
