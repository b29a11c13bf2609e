package tarry

import "context"

// Trace is a W3C trace context: traceparent and tracestate.
type Trace struct{ Parent, State string }

type traceKey struct{}

// WithTrace puts a trace context into a context: messages that are pushed with it carry it. A
// handler's context has the one of its message.
func WithTrace(ctx context.Context, trace Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// TraceOf is the trace context of a context; empty if it has none.
func TraceOf(ctx context.Context) Trace {
	trace, _ := ctx.Value(traceKey{}).(Trace)
	return trace
}

// Tracer makes spans, for example with OpenTelemetry: an adapter of a few lines.
type Tracer interface {
	// Push returns the trace context that a pushed message carries.
	Push(ctx context.Context, queue string) Trace
	// Handle begins the span of a delivery, and returns the handler's context and how to end it.
	Handle(ctx context.Context, delivery *Delivery) (context.Context, func(error))
}
