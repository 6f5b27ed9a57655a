package zmq

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"

	"brine/wire/transport"
)

// TestNetworkSubscriber: a minion that filters hears what is for it and for everybody, whether its master filters or
// not; topics that only begin like its own are another minion's.
func TestNetworkSubscriber(t *testing.T) {
	p, subs := openPub(t, PubOptions{Endpoint: anyPort})
	c := newContext(t)
	links, got := make(chan bool, 4), make(chan string, 10)
	host, text, err := net.SplitHostPort(strings.TrimPrefix(p.Addr(), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	sub := NewNetwork(NetworkOptions{Context: c}).Subscriber(host, port, transport.SubscriberOptions{ID: "m1",
		Filter: true, Mark: "mark", OnLink: func(up bool) { links <- up }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- sub.Serve(ctx, func(b []byte) { got <- string(b) }) }()
	if !receive(t, "connection", links) {
		t.Error("the connection is told as ended")
	}
	for range 3 {
		receive(t, "subscription", subs)
	}
	for _, frames := range [][][]byte{
		{[]byte(Topic("m1") + "0"), []byte("another minion's")},
		{[]byte(TopicBroadcast), []byte("a"), []byte("three frames")},
		{[]byte(Topic("m1")), []byte("mine")},
		{[]byte(TopicBroadcast), []byte("everybody's")},
		{[]byte("mark of a frame without a topic")},
	} {
		if err := p.Send(frames...); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"mine", "everybody's", "mark of a frame without a topic"} {
		if b := receive(t, want, got); b != want {
			t.Errorf("got %q, want %q", b, want)
		}
	}
	if n := sub.(*Sub).Malformed(); n != 1 {
		t.Errorf("%d malformed", n)
	}
	cancel()
	if err := receive(t, "end", done); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
