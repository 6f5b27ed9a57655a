package fileclient

import (
	"hash"
	"sync/atomic"
)

// hashing is the hash of what has come. A piece may be left to whoever opens the next one, who takes two thirds of the
// time for both hashes together (payload.Beside). One goroutine uses it, but for take.
type hashing struct {
	sum     hash.Hash // nil: nobody wants one
	waiting atomic.Pointer[pieceToHash]
	last    *pieceToHash // not settled yet
}

// pieceToHash is text that the hash has yet to take.
type pieceToHash struct {
	text []byte
	done chan struct{} // closed when it has, by who has taken it out of waiting
	free func()        // lets the text go
}

func newHashing(sum hash.Hash) *hashing { return &hashing{sum: sum} }

// Write takes text at once.
func (h *hashing) Write(text []byte) (int, error) {
	h.settle()
	if h.sum == nil {
		return len(text), nil
	}
	return h.sum.Write(text)
}

// later takes text when it is settled, or before. The text stays as it is until free is called.
func (h *hashing) later(text []byte, free func()) {
	h.settle()
	h.last = &pieceToHash{text: text, done: make(chan struct{}), free: free}
	if h.sum != nil {
		h.waiting.Store(h.last)
	}
}

// take gives the text that waits to somebody else (payload.Beside).
func (h *hashing) take() (sum hash.Hash, text []byte, done func(), ok bool) {
	p := h.waiting.Swap(nil)
	if p == nil {
		return nil, nil, nil, false
	}
	return h.sum, p.text, func() { close(p.done) }, true
}

// settle has everything taken.
func (h *hashing) settle() {
	p := h.last
	if p == nil {
		return
	}
	h.last = nil
	if h.waiting.Swap(nil) != nil {
		_, _ = h.sum.Write(p.text) // a hash takes everything
	} else if h.sum != nil {
		<-p.done
	}
	p.free()
}
