package netapi

import "context"

type fromKey struct{}

// WithFrom notes the address of the client for whom something is done.
func WithFrom(ctx context.Context, from string) context.Context {
	return context.WithValue(ctx, fromKey{}, from)
}

// From is the address of the client, "" when it is not known.
func From(ctx context.Context) string {
	from, _ := ctx.Value(fromKey{}).(string)
	return from
}
