package opentelemetry_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"tarry.io/go/tarry"
	"tarry.io/go/tarry/opentelemetry"
	"tarry.io/go/tarry/tarrytest"
)

func TestTheHandlersSpanIsAChildOfThePush(t *testing.T) {
	finished := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdk.NewTracerProvider(sdk.WithSpanProcessor(finished)))
	client := tarrytest.Start(t).Client(tarry.WithTracer(opentelemetry.New()))
	ctx := context.Background()
	if _, err := client.Queue("q").Push(ctx, []byte("x"), tarry.Key("a")); err != nil {
		t.Fatal(err)
	}
	var active trace.SpanContext
	_, err := client.Queue("q").WorkOff(ctx, func(ctx context.Context, _ *tarry.Delivery) error {
		active = trace.SpanContextFromContext(ctx)
		return errors.New("it broke")
	})
	if err != nil {
		t.Fatal(err)
	}
	spans := finished.Ended()
	if len(spans) != 2 {
		t.Fatalf("%d spans", len(spans))
	}
	pushed, handled := spans[0], spans[1]
	if pushed.Name() != "push q" || handled.Name() != "process q" {
		t.Errorf("%q, %q", pushed.Name(), handled.Name())
	}
	if handled.Parent().SpanID() != pushed.SpanContext().SpanID() ||
		handled.SpanContext().TraceID() != pushed.SpanContext().TraceID() {
		t.Error("the handler's span is no child of the push's")
	}
	if active.SpanID() != handled.SpanContext().SpanID() {
		t.Error("the handler's span is not the active one")
	}
	if status := handled.Status(); status.Code != codes.Error || status.Description != "it broke" {
		t.Errorf("the status is %v", status)
	}
}
