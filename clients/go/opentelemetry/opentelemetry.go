// Package opentelemetry makes spans of pushes and deliveries. It is a module of its own, so that the
// client itself needs the standard library alone.
//
//	client, err := tarry.New(address, tarry.WithTracer(opentelemetry.New()))
package opentelemetry

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"tarry.io/go/tarry"
)

// Tracer is a tarry.Tracer on OpenTelemetry's global provider. For any number of goroutines.
type Tracer struct{ carried propagation.TraceContext }

// New makes a tracer.
func New() tarry.Tracer { return Tracer{} }

func start(ctx context.Context, verb, queue string, kind trace.SpanKind,
	more ...attribute.KeyValue) (context.Context, trace.Span) {
	about := append(more, attribute.String("messaging.system", "tarry"),
		attribute.String("messaging.destination.name", queue))
	return otel.Tracer("tarry").Start(ctx, verb+" "+queue, trace.WithSpanKind(kind),
		trace.WithAttributes(about...))
}

// Push makes the span of a push. It ends at once: it marks when the message was made.
func (t Tracer) Push(ctx context.Context, queue string) tarry.Trace {
	ctx, span := start(ctx, "push", queue, trace.SpanKindProducer)
	defer span.End()
	headers := propagation.MapCarrier{}
	t.carried.Inject(ctx, headers)
	return tarry.Trace{Parent: headers["traceparent"], State: headers["tracestate"]}
}

// Handle begins the span of a delivery, within the trace of its push.
func (t Tracer) Handle(ctx context.Context, one *tarry.Delivery) (context.Context, func(error)) {
	ctx = t.carried.Extract(ctx, propagation.MapCarrier(one.Headers))
	ctx, span := start(ctx, "process", one.Queue, trace.SpanKindConsumer,
		attribute.String("messaging.message.id", one.Key))
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
