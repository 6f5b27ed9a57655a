package loader

import "context"

// unmaskedKey marks contexts in which pillar.get and its like give values as they are.
type unmaskedKey struct{}

// Unmasked is the context of a template: functions that it calls give it the values of the pillar, not their masks
// (salt/utils/secret.py, mask_pillar).
func Unmasked(ctx context.Context) context.Context {
	return context.WithValue(ctx, unmaskedKey{}, true)
}

// IsUnmasked tells whether a context is that of a template.
func IsUnmasked(ctx context.Context) bool { return ctx.Value(unmaskedKey{}) != nil }
