package bus

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

func TestPublishReachesBothKindsOfSubscribers(t *testing.T) {
	dir := t.TempDir()
	subs := &Subscribers{}
	b := New(ipc.PubOptions{Path: filepath.Join(dir, "pub.ipc")}, ipc.PullOptions{Path: filepath.Join(dir, "pull.ipc")},
		subs)
	if err := b.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	bodies := make(chan []byte, 8)
	ended := make(chan error, 2)
	go func() { ended <- b.ServePub(ctx) }()
	go func() { ended <- b.ServePull(ctx, func(body []byte) { bodies <- body }) }()
	defer func() { cancel(); <-ended; <-ended }()

	body, err := event.Pack("my/tag", payload.M("k", "v"), 0)
	if err != nil {
		t.Fatal(err)
	}
	push := ipc.NewPusher(filepath.Join(dir, "pull.ipc"), ipc.FramingLength)
	defer push.Close()
	if err := push.Push(ctx, body); err != nil {
		t.Fatal(err)
	}
	var inside []string
	subs.Add("a", func(tag string, _ []byte) { inside = append(inside, tag) })
	subs.Add("a", func(tag string, _ []byte) { inside = append(inside, "again "+tag) })
	select {
	case got := <-bodies:
		b.Publish(got)
	case <-ctx.Done():
		t.Fatal("the pushed event did not arrive")
	}
	if len(inside) != 1 || inside[0] != "again my/tag" {
		t.Errorf("inside: got %q, want one event for the second subscriber of the name", inside)
	}
	subs.Remove("a")
	b.Publish(body)
	if len(inside) != 1 {
		t.Errorf("a removed subscriber got an event")
	}
}

func TestListenBindsBothOrNone(t *testing.T) {
	dir := t.TempDir()
	taken := New(ipc.PubOptions{Path: filepath.Join(dir, "p1")}, ipc.PullOptions{Path: filepath.Join(dir, "pull")},
		&Subscribers{})
	if err := taken.Listen(); err != nil {
		t.Fatal(err)
	}
	defer taken.pub.Close()
	defer taken.pull.Close()
	b := New(ipc.PubOptions{Path: filepath.Join(dir, "p2")}, ipc.PullOptions{Path: filepath.Join(dir, "pull")},
		&Subscribers{})
	if err := b.Listen(); err == nil {
		t.Fatal("a taken pull socket was bound again")
	}
	again := ipc.NewPubServer(ipc.PubOptions{Path: filepath.Join(dir, "p2")})
	if err := again.Listen(); err != nil {
		t.Errorf("the pub socket stayed bound: %v", err)
	}
	_ = again.Close()
}
