// Package aside runs work of a request in further goroutines. net/http keeps a panic in a request's own
// goroutine from ending the process, and this package does the same for the others: a panic ends only the
// request. The caller makes sure that the work ends with the request.
package aside

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Go runs f. If f panics, Go logs the panic with its stack and calls died, which must not block.
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
