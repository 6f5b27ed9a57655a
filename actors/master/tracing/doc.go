// Package tracing tells a collector of OpenTelemetry of jobs: each is a trace, each of its hops a span. The Tracer, an
// actor, decides when the trace of a job is whole; the spans are made of the ledger by pure functions, and delivered
// beside it, so that a collector that hangs holds up nobody. It knows nothing of requests and workers: these tell it by
// a Tracing that there is news.
package tracing
