package zmq

import "testing"

// TestCopyReceived: the option reaches the library. The test fails if a new version of the binding begins its context
// with another field.
func TestCopyReceived(t *testing.T) {
	c, err := NewContext(1)
	if err != nil {
		t.Fatal(err)
	}
	if !copiesReceived(c.raw) {
		t.Error("messages are not copied")
	}
	if n, err := c.raw.GetMaxSockets(); n != maxSockets || err != nil {
		t.Errorf("%d sockets, %v", n, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
