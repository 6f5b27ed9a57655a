package fileclient

import (
	"context"
	"time"

	"brine/wire/payload"
)

// headStart is how long a transfer waits for the hash of its file before the first piece is asked for. A server reads
// the whole of a large file for it; of others it comes sooner.
const headStart = 20 * time.Millisecond

// promise is the server's hash of a file, which may still be on its way. v and err are there once told is closed.
type promise struct {
	told chan struct{}
	v    any
	err  error
}

// kept is a hash that has come.
func kept(v any, err error) *promise {
	p := &promise{make(chan struct{}), v, err}
	close(p.told)
	return p
}

// promise asks for a hash, and waits for headStart. The question goes on when ctx ends: a transfer outlives who has
// begun it as long as others wait for the file.
func (c *Client) promise(ctx context.Context, url, env string) *promise {
	p := &promise{told: make(chan struct{})}
	go func() {
		defer close(p.told)
		p.v, p.err = c.Hash(context.WithoutCancel(ctx), url, env)
	}()
	late := time.NewTimer(headStart)
	defer late.Stop()
	select {
	case <-p.told:
	case <-late.C:
	case <-ctx.Done():
	}
	return p
}

// has tells whether the hash has come.
func (p *promise) has() bool {
	select {
	case <-p.told:
		return true
	default:
		return false
	}
}

// wait waits for the hash. The error is the server's, or the cause of ctx.
func (p *promise) wait(ctx context.Context) error {
	select {
	case <-p.told:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hash is the hash; "" while it has not come, and when there is no such file.
func (p *promise) hash() (kind, sum string) {
	if !p.has() {
		return "", ""
	}
	m, _ := p.v.(*payload.Map)
	return m.Str("hash_type"), m.Str("hsum")
}

// absent tells whether a hash that has come says that there is no such file.
func (p *promise) absent() bool { return p.v == "" || p.v == false }
