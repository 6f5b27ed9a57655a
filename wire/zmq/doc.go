// Package zmq holds the ZeroMQ ends of Salt's two channels: Router and Req for requests, Pub and Sub for publications.
// Each type is one socket with Salt's options set; the socket never leaves its adapter.
//
// The package moves frames and does not look into them: it knows no ciphers and no msgpack, and logs no messages. It
// counts and drops a multipart message of the wrong shape. No adapter keeps a goroutine or a buffer per peer.
//
// A socket of libzmq is not safe for concurrent use, and its readiness shows in two places: the file descriptor ZMQ_FD
// says that something may have changed, ZMQ_EVENTS says what. Here a mutex guards the socket, so any goroutine may
// send. The one goroutine that reads sleeps in the Go netpoller on a copy of the descriptor (see socket and waker).
// There are no polling timeouts.
//
// Answers to salt/transport/zeromq.py.
package zmq
