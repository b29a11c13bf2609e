package io.tarry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.tarry.testing.TarryServer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Spans through OpenTelemetry's real API and SDK. Run it with {@code -ea}. */
final class SpansTest implements SpanExporter {
  private final List<SpanData> finished = new ArrayList<>();

  public static void main(String[] arguments) {
    new SpansTest().run();
    System.out.println("spans done");
  }

  private void run() {
    SdkTracerProvider provider =
        SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(this)).build();
    OpenTelemetry api =
        OpenTelemetrySdk.builder()
            .setTracerProvider(provider)
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .buildAndRegisterGlobal();
    same(true, api != null);
    List<String> active = new ArrayList<>();
    try (TarryServer server = TarryServer.start();
        TarryClient client = server.client()) {
      client.queue("q").push(Message.of("x").key("a"));
      TarryHandler handler =
          delivery -> {
            same(true, delivery.headers().containsKey("traceparent"));
            active.add(Span.current().getSpanContext().getSpanId());
            throw new IllegalStateException("it broke");
          };
      TarryWorker worker = TarryWorker.builder(client).handle("q", handler).build();
      same(1, worker.workOff());
    }
    same(2, finished.size());
    SpanData pushed = finished.get(0);
    SpanData handled = finished.get(1);
    same("push q", pushed.getName());
    same(SpanKind.PRODUCER, pushed.getKind());
    same("process q", handled.getName());
    same(SpanKind.CONSUMER, handled.getKind());
    same(pushed.getSpanId(), handled.getParentSpanId());
    same(pushed.getTraceId(), handled.getTraceId());
    same(List.of(handled.getSpanId()), active);
    same("tarry", attribute(handled, "messaging.system"));
    same("q", attribute(handled, "messaging.destination.name"));
    same("a", attribute(handled, "messaging.message.id"));
    same(StatusCode.ERROR, handled.getStatus().getStatusCode());
  }

  private static String attribute(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.stringKey(name));
  }

  private static void same(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError(actual + " instead of " + expected);
    }
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    finished.addAll(spans);
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode flush() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    return CompletableResultCode.ofSuccess();
  }
}
