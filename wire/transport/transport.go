// Package transport is the seam between Salt's two channels and the networks that carry them. It holds the interfaces
// of both ends of a channel, the facts that an implementation reports about connections, and the errors that callers
// decide on. It opens no socket: an implementation is a package of its own (wire/zmq), and the commands that put a
// daemon together choose one.
//
//	request channel    RequestClient → RequestServer    one request, one reply
//	publish channel    Publisher → Subscriber           one publication to many
//
// A channel carries one msgpack value in bytes at a time, as wire/payload makes it. The implementation decides how a
// value is framed, how many requests share a connection, and how a subscriber names itself. The interfaces answer to
// salt/transport/base.py: RequestServer, RequestClient, PublishServer, PublishClient.
package transport

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// Errors of sending.
var (
	// ErrClosed means that an end is not open, or no longer open.
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
	// ErrUnconnected is an ErrTimeout of a request that had no connection when its time was over: nothing listens at
	// the address, or the address cannot be reached.
	ErrUnconnected = fmt.Errorf("%w: there is no connection", ErrTimeout)
	// ErrLost means that the connection ended after the request was sent and before the reply. The server may have
	// carried the request out.
	ErrLost = errors.New("transport: the connection ended before the reply")
)

// RequestServer is the server end of the request channel.
type RequestServer interface {
	// Listen binds the port. Serve does so by itself; calling Listen first shows a taken port early.
	Listen() error
	// Serve hands each request to sink until ctx ends. It then closes and returns the cause of ctx. sink must not
	// block: it posts to a mailbox. sink may answer.
	Serve(ctx context.Context, sink func(Request)) error
}

// Request is one request as a server received it. The receiver owns the payload.
type Request struct {
	Payload []byte // one msgpack value
	From    string // address of the peer, "" if unknown
	Peer
}

// Peer is the connection of a request, and the way back.
type Peer interface {
	// Answer sends the one reply. Any goroutine may call it. It never blocks, and the slice may be reused afterwards.
	// Errors: ErrClosed, ErrNoPeer, ErrBusyPeer.
	Answer(payload []byte) error
	// AnswerLent is Answer without a copy. Both payload and out must lie outside Go's heap. The transport sets out to a
	// value other than 0 until it no longer needs the payload. Until then the payload must not change, and both must
	// stay mapped. After an error out is 0.
	AnswerLent(payload []byte, out *atomic.Int32) error
	// Vouch says that the peer is known. When memory is short, the connections of unknown peers end first.
	Vouch()
	// Known tells whether a caller has vouched for the peer, with this request or an earlier one.
	Known() bool
}

// RequestClient is the client end of the request channel. It serves the requests of several goroutines one after
// another, or concurrently if the implementation can.
type RequestClient interface {
	// Do sends one request and waits for its reply, which the caller owns. Errors: ErrTimeout when the deadline of ctx
	// passes, ErrUnconnected, ErrLost, ErrClosed, and the cause of a cancelled ctx. After each of them the server may
	// have carried out the request.
	Do(ctx context.Context, payload []byte) ([]byte, error)
	// DoIn is Do with memory for the reply: a large reply that fits is written into buf, any other into a new slice.
	DoIn(ctx context.Context, payload, buf []byte) ([]byte, error)
	// Connect waits for a connection. If ctx ends first, it returns the cause of ctx.
	Connect(ctx context.Context) error
	// Close waits for a running request and ends the connection. Do returns ErrClosed from then on.
	Close() error
}

// Publisher is the server end of the publish channel.
type Publisher interface {
	// Open binds the port and starts to report subscribers (see Audience). A Publisher is opened once.
	Open() error
	// Publish sends one value to the subscribers in to. It never blocks: a subscriber whose queue is full misses the
	// value. The slice may be reused afterwards.
	Publish(to To, payload []byte) error
	// Close closes the port and waits until all goroutines of the Publisher have ended.
	Close() error
}

// To names the subscribers of a publication. The zero value names all of them. A Publisher that does not filter sends
// every publication to every subscriber: a minion checks the target itself.
type To struct {
	IDs     []string // minions; none: all subscribers
	Syndics bool     // with IDs: also the syndics, which check for their own minions
}

// Audience holds the callbacks of a Publisher, which report its connections and subscriptions. Several goroutines may
// call them, and they must not block. A nil callback is not called. Without Subscription no subscriber is vouched for.
type Audience struct {
	// Connection reports that a connection was made or has ended. A connection that stays open may be reported as ended
	// and reopened under the same number.
	Connection func(Connection)
	// Subscription reports that a subscription begins or ends. It returns whether only a known peer can have this
	// subscription. Until then the identity of a subscriber is only a claim.
	Subscription func(Subscription) (vouched bool)
}

// Connection is a peer of the publish channel.
type Connection struct {
	Conn uint64 // its number, which is never used again
	Up   bool
	Peer string // host:port of the other side
}

// Subscription is the wish of a peer to receive a topic, or to receive it no longer. It is a claim, and Topic may be
// any bytes.
type Subscription struct {
	Topic string // "" is everything
	Begin bool
	Conn  uint64 // the connection that sent it; 0: libzmq reports it because a connection ended
}

// Network makes the client ends on a minion.
type Network interface {
	// RequestClient makes an end of the request channel towards an address. It connects when it is first used, and its
	// requests end with its connection (ErrLost).
	RequestClient(host string, port int) RequestClient
	// Subscriber makes an end of the publish channel.
	Subscriber(host string, port int, opt SubscriberOptions) Subscriber
}

// SubscriberOptions are what a minion says when it subscribes.
type SubscriberOptions struct {
	ID     string        // of the minion; a claim
	Filter bool          // it wants only what is for everybody or for ID (zmq_filtering)
	Mark   string        // a topic that shows a master who it is (see Subscription); "": none
	OnLink func(up bool) // told when the connection is made or ends; it must not block
}

// Subscriber is the client end of the publish channel. It connects again by itself.
type Subscriber interface {
	// Serve connects and hands each publication to sink until ctx ends, then closes and returns the cause of ctx. The
	// receiver owns the bytes, one msgpack value. sink must not block: it posts to a mailbox. Another error means that
	// it never began.
	Serve(ctx context.Context, sink func(payload []byte)) error
}
