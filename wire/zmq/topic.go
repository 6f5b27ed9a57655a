package zmq

import (
	"crypto/sha1"
	"encoding/hex"
)

// Topics of publications with zmq_filtering, besides those of single minions.
const (
	TopicBroadcast = "broadcast"
	TopicSyndic    = "syndic"
)

// Topic is the topic of one minion: the SHA-1 of its id in hex (salt/transport/zeromq.py).
func Topic(id string) string {
	sum := sha1.Sum([]byte(id))
	return hex.EncodeToString(sum[:])
}
