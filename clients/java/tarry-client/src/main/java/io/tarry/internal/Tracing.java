package io.tarry.internal;

import java.util.Map;
import java.util.function.Supplier;

/** Spans of OpenTelemetry, if its API is on the class path. */
public final class Tracing {
  /** Makes spans. */
  interface Tracer {
    Sending sending(String queue);

    <T> T handling(String queue, String key, Map<String, String> headers, Supplier<T> work);
  }

  /** The span of a push. */
  public interface Sending extends AutoCloseable {
    /** The headers that carry it. */
    Map<String, String> headers();

    /** Carries out the push; an exception is the span's too. */
    <T> T watch(Supplier<T> work);

    @Override
    void close();
  }

  private static final Tracer TRACER = tracer();

  private Tracing() {}

  private static Tracer tracer() {
    try {
      Class.forName("io.opentelemetry.api.GlobalOpenTelemetry");
      return new OpenTelemetryTracer();
    } catch (ClassNotFoundException | LinkageError none) {
      return new NoTracer();
    }
  }

  public static Sending sending(String queue) {
    return TRACER.sending(queue);
  }

  /** Runs a handler in a span within the trace of the push. */
  public static <T> T handling(
      String queue, String key, Map<String, String> headers, Supplier<T> work) {
    return TRACER.handling(queue, key, headers, work);
  }

  private static final class NoTracer implements Tracer, Sending {
    @Override
    public Sending sending(String queue) {
      return this;
    }

    @Override
    public <T> T handling(String queue, String key, Map<String, String> headers, Supplier<T> work) {
      return work.get();
    }

    @Override
    public Map<String, String> headers() {
      return Map.of();
    }

    @Override
    public <T> T watch(Supplier<T> work) {
      return work.get();
    }

    @Override
    public void close() {}
  }
}
