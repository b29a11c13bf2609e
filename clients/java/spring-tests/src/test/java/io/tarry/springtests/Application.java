package io.tarry.springtests;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import io.tarry.Claimed;
import io.tarry.Delivery;
import io.tarry.Verdict;
import io.tarry.spring.TarryHeaders;
import io.tarry.spring.TarryListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

/** Listeners of every kind. Each writes down what it got. */
@SpringBootApplication
class Application {
  static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  record Order(String id, int cents) {}

  final List<String> said = Collections.synchronizedList(new ArrayList<>());

  @TarryListener(queue = "texts", id = "texts", concurrency = "${texts.concurrency}")
  void text(String text, @Header(TarryHeaders.KEY) String key) {
    said.add(key + "=" + text);
  }

  @TarryListener(queue = "bytes", prefetch = "0", lease = "5m")
  void bytes(byte[] bytes, Claimed claimed) {
    said.add(claimed.key() + "=" + bytes.length);
  }

  @TarryListener(queue = "orders")
  void order(@Payload Order order, @Header("shop") String shop, Delivery delivery) {
    said.add(order + " of " + shop + ", attempt " + delivery.attempt());
  }

  @TarryListener(queue = "lists")
  void list(Message<List<Order>> message) {
    said.add(message.getHeaders().get(TarryHeaders.KEY) + "=" + message.getPayload());
  }

  @TarryListener(queue = "verdicts")
  Verdict verdict(String text, @Header(TarryHeaders.ATTEMPT) int attempt) {
    said.add(text + " " + attempt);
    return attempt == 1 ? Verdict.retry(Duration.ofMinutes(5)) : Verdict.bury("twice");
  }

  @TarryListener(queue = "errors")
  void error(String text) {
    said.add(text);
    throw new IllegalStateException("no " + text);
  }

  /** As a tracer does: it writes the trace into what is sent, and reads it from what is got. */
  @Bean
  ObservationHandler<Observation.Context> tracer() {
    return new ObservationHandler<>() {
      @Override
      public boolean supportsContext(Observation.Context context) {
        return context instanceof SenderContext || context instanceof ReceiverContext;
      }

      @Override
      @SuppressWarnings("unchecked")
      public void onStart(Observation.Context context) {
        if (context instanceof SenderContext) {
          SenderContext<Object> sent = (SenderContext<Object>) context;
          sent.getSetter().set(sent.getCarrier(), "traceparent", TRACE);
        } else {
          ReceiverContext<Object> got = (ReceiverContext<Object>) context;
          String trace = got.getGetter().get(got.getCarrier(), "traceparent");
          if (trace != null) {
            said.add(context.getContextualName() + " in " + trace);
          }
        }
      }
    };
  }
}
