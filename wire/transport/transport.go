// Package transport is the seam between Salt's two channels and the networks that carry them. It holds the interfaces
// of their ends, the facts that they tell of their connections, and the errors that callers decide on. It opens no
// socket: an implementation is a package of its own (wire/zmq), and the commands that put a daemon together choose it.
//
//	request channel    RequestClient → RequestServer    one request, one reply
//	publish channel    Publisher → subscribers          one publication to many
//
// What travels is one msgpack value in bytes, as wire/payload makes it. How a value is framed, how many requests share
// a connection, and how a subscriber names itself belong to the implementation. The interfaces answer to
// salt/transport/base.py: RequestServer, RequestClient, PublishServer.
package transport

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// Errors of sending.
var (
	// ErrClosed means that an end is not open, or not any more.
	ErrClosed = errors.New("transport: closed")
	// ErrNoPeer means that the peer of a reply has gone.
	ErrNoPeer = errors.New("transport: the peer is not connected")
	// ErrBusyPeer means that the peer does not read and its queue is full.
	ErrBusyPeer = errors.New("transport: the peer does not take its messages")
)

// Errors of requests.
var (
	// ErrTimeout means that the deadline of a request passed without a reply.
	ErrTimeout = errors.New("transport: no reply in time")
	// ErrUnconnected is an ErrTimeout of a request that had no connection at the end: nobody listens at the address, or
	// it cannot be reached.
	ErrUnconnected = fmt.Errorf("%w: there is no connection", ErrTimeout)
	// ErrLost means that the connection ended after the request was sent and before the reply. The server may have
	// carried the request out.
	ErrLost = errors.New("transport: the connection ended before the reply")
)

// RequestServer is the server end of the request channel.
type RequestServer interface {
	// Listen binds the port. Serve does so by itself; calling Listen first shows a taken port early.
	Listen() error
	// Serve hands each request to sink until ctx ends, then closes and returns the cause of ctx. sink must not block: it
	// posts to a mailbox. It may answer.
	Serve(ctx context.Context, sink func(Request)) error
}

// Request is one request as a server received it. The receiver owns the payload.
type Request struct {
	Payload []byte // one msgpack value
	From    string // address of the peer, "" when it is not known
	Peer
}

// Peer is the connection of a request, and the way back.
type Peer interface {
	// Answer sends the one reply, from any goroutine, and never blocks. The slice may be reused afterwards. Errors:
	// ErrClosed, ErrNoPeer, ErrBusyPeer.
	Answer(payload []byte) error
	// AnswerLent is Answer without a copy. Both payload and out must lie outside of Go's heap. out is not 0 from the
	// call on until the payload is needed no more; until then it must stay as it is, and both must stay mapped. With an
	// error out is 0.
	AnswerLent(payload []byte, out *atomic.Int32) error
	// Vouch tells that the peer is known: where memory is short, the connections of strangers end first.
	Vouch()
	// Known tells whether a caller has vouched for the peer, with this request or one before it.
	Known() bool
}

// RequestClient is the client end of the request channel. Requests of several goroutines are served one after another,
// or beside each other where the implementation can.
type RequestClient interface {
	// Do sends one request and waits for its reply, which the caller owns. Errors: ErrTimeout when the deadline of ctx
	// passes, ErrUnconnected, ErrLost, ErrClosed, and the cause of a ctx that is cancelled. After each of them the
	// server may have carried the request out.
	Do(ctx context.Context, payload []byte) ([]byte, error)
	// DoIn is Do with memory for the reply: a large one that fits into buf stands there, any other in a slice of its own.
	DoIn(ctx context.Context, payload, buf []byte) ([]byte, error)
	// Connect waits until there is a connection, or ctx ends: then the error is its cause.
	Connect(ctx context.Context) error
	// Close waits for a running request and ends the connection. Do returns ErrClosed from then on.
	Close() error
}

// Publisher is the server end of the publish channel.
type Publisher interface {
	// Open binds the port and begins to tell of subscribers (see Audience). A Publisher is opened once.
	Open() error
	// Publish sends one value to those whom to names. It never blocks: a subscriber whose queue is full misses it. The
	// slice may be reused afterwards.
	Publish(to To, payload []byte) error
	// Close closes the port and waits until nothing of the Publisher runs any more.
	Close() error
}

// To names those whom a publication is for. The zero value is everybody. A Publisher that does not filter sends
// everything to everybody: a minion looks at the target by itself.
type To struct {
	IDs     []string // minions; none: everybody
	Syndics bool     // with IDs: syndics, too, which look for their own minions
}

// Audience is told who is connected to a Publisher. Both functions may be called from several goroutines and must not
// block; nil ones are not called, and without the second no subscriber is vouched for.
type Audience struct {
	// Connection tells of a connection that was made or has ended. A connection that stays open may be reported as
	// ended and, at once, as made again, under the same number.
	Connection func(Connection)
	// Subscription tells of a subscription that begins or ends, and answers whether it is one that only a known peer
	// can have. Who a subscriber is, is a claim until then.
	Subscription func(Subscription) (vouched bool)
}

// Connection is a peer of the publish channel.
type Connection struct {
	Conn uint64 // its number; none comes again
	Up   bool
	Peer string // host:port of the other side
}

// Subscription is what a peer says that it wants, or does not want any more. That is a claim, and may be any bytes.
type Subscription struct {
	Topic string // "" is everything
	Begin bool
	Conn  uint64 // the connection that said so; 0: the end of the connection ends it
}
