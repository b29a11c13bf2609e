package io.tarry.internal;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Loaded only if OpenTelemetry's API is on the class path. */
final class OpenTelemetryTracer implements Tracing.Tracer {
  private static final TextMapGetter<Map<String, String>> GETTER =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> headers) {
          return headers.keySet();
        }

        @Override
        public String get(Map<String, String> headers, String name) {
          return headers == null ? null : headers.get(name);
        }
      };

  private static SpanBuilder span(String verb, String queue, SpanKind kind) {
    return GlobalOpenTelemetry.getTracer("tarry")
        .spanBuilder(verb + " " + queue)
        .setSpanKind(kind)
        .setAttribute("messaging.system", "tarry")
        .setAttribute("messaging.destination.name", queue);
  }

  @Override
  public Tracing.Sending sending(String queue) {
    return new Sending(span("push", queue, SpanKind.PRODUCER).startSpan());
  }

  @Override
  public <T> T handling(String queue, String key, Map<String, String> headers, Supplier<T> work) {
    Context parent =
        GlobalOpenTelemetry.getPropagators()
            .getTextMapPropagator()
            .extract(Context.current(), headers, GETTER);
    Span span =
        span("process", queue, SpanKind.CONSUMER)
            .setAttribute("messaging.message.id", key)
            .setParent(parent)
            .startSpan();
    return watched(span, work);
  }

  @SuppressWarnings("try") // The scope is there to be closed.
  private static <T> T watched(Span span, Supplier<T> work) {
    try (Scope scope = span.makeCurrent()) {
      return work.get();
    } catch (RuntimeException | Error error) {
      span.recordException(error);
      span.setStatus(StatusCode.ERROR);
      throw error;
    } finally {
      span.end();
    }
  }

  private static final class Sending implements Tracing.Sending {
    private final Span span;

    Sending(Span span) {
      this.span = span;
    }

    @Override
    public Map<String, String> headers() {
      Map<String, String> all = new LinkedHashMap<>();
      GlobalOpenTelemetry.getPropagators()
          .getTextMapPropagator()
          .inject(Context.current().with(span), all, (into, name, value) -> into.put(name, value));
      all.keySet().retainAll(java.util.Set.of("traceparent", "tracestate"));
      return all;
    }

    @Override
    public <T> T watch(Supplier<T> work) {
      return watched(span, work);
    }

    @Override
    public void close() {
      span.end();
    }
  }
}
