//go:build staticzmq && cgo

package zmq

import (
	"strings"
	"testing"

	"github.com/pebbe/zmq4"
)

// TestBatches: setBatches finds the sizes once in every kind of server socket; after that they no longer have their
// defaults.
func TestBatches(t *testing.T) {
	if v := LibraryVersion(); !strings.HasPrefix(v, batchVersion) {
		t.Skipf("libzmq %s is not of the line that is known", v)
	}
	c := newContext(t)
	for _, kind := range []zmq4.Type{zmq4.ROUTER, zmq4.XPUB} {
		raw, err := c.socket(kind)
		if err != nil {
			t.Fatal(err)
		}
		if !setBatches(raw, serverReadBatch, serverWriteBatch) {
			t.Errorf("%v: libzmq %s keeps its batch sizes elsewhere", kind, LibraryVersion())
		}
		if setBatches(raw, 1, 1) {
			t.Errorf("%v: set twice", kind)
		}
		if err := c.release(raw); err != nil {
			t.Error(err)
		}
	}
}
