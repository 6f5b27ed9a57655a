// Package aside runs what a request does beside its own goroutine, which net/http keeps from taking the process down.
// What runs here does not, either: a panic ends the request. Who starts something sees to it that it ends with the
// request.
package aside

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Go runs f. When it panics, that is logged with its stack and died is told, which must not block.
func Go(log *slog.Logger, name string, died func(error), f func()) {
	go func() {
		defer func() {
			if p := recover(); p != nil {
				log.Error("a request died", "part", name, "err", p, "stack", string(debug.Stack()))
				died(fmt.Errorf("%s: %v", name, p))
			}
		}()
		f()
	}()
}
