package zmq

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/wire/transport"
	"brine/wire/wiretest"
)

// TestTopics compares the topics of minions with those of real Salt.
func TestTopics(t *testing.T) {
	for id, want := range wiretest.Load(t, "names").Doc.Map("topics").All() {
		if got := Topic(id.(string)); got != want {
			t.Errorf("Topic(%s) = %s, want %s", id, got, want)
		}
	}
}

// TestPublishTo: with Filter a publication is sent under the topics of its receivers, otherwise without a topic.
func TestPublishTo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		filter bool
		to     transport.To
		want   []string // topics; "" for a message of one frame
	}{
		{"no filter", false, transport.To{IDs: []string{"m1"}, Syndics: true}, []string{""}},
		{"everybody", true, transport.To{Syndics: true}, []string{TopicBroadcast}},
		{"ids", true, transport.To{IDs: []string{"m1", "m2"}}, []string{Topic("m1"), Topic("m2")}},
		{"ids and syndics", true, transport.To{IDs: []string{"m1"}, Syndics: true}, []string{Topic("m1"), TopicSyndic}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, subs := openPub(t, PubOptions{Endpoint: anyPort, Filter: tt.filter})
			got := make(chan [][]byte, 10)
			startSub(t, SubOptions{Endpoint: p.Addr()}, func(frames [][]byte) { got <- frames })
			receive(t, "subscription", subs)
			if err := p.Publish(tt.to, []byte("sealed")); err != nil {
				t.Fatal(err)
			}
			for _, topic := range tt.want {
				want := [][]byte{[]byte(topic), []byte("sealed")}
				if topic == "" {
					want = want[1:]
				}
				if diff := cmp.Diff(want, receive(t, "publication", got)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}
