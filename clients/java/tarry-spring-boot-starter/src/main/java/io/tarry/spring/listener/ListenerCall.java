package io.tarry.spring.listener;

import io.tarry.Delivery;
import io.tarry.Verdict;
import io.tarry.spring.TarryHeaders;
import java.util.HashMap;
import java.util.Map;
import org.springframework.messaging.Message;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.messaging.handler.annotation.support.MethodArgumentTypeMismatchException;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.GenericMessage;

/** Calls the listener's method with what it wants of a delivery. */
final class ListenerCall {
  private final InvocableHandlerMethod method;

  ListenerCall(InvocableHandlerMethod method) {
    Class<?> returned = method.getMethod().getReturnType();
    if (returned != void.class && returned != Verdict.class) {
      throw new IllegalStateException(
          "@TarryListener "
              + method.getShortLogMessage()
              + " returns "
              + returned.getSimpleName()
              + "; it must return void or Verdict");
    }
    this.method = method;
  }

  /** Null is an ack. */
  Verdict handle(Delivery delivery) throws Exception {
    try {
      return (Verdict) method.invoke(message(delivery));
    } catch (MessageConversionException
        | MethodArgumentNotValidException
        | MethodArgumentTypeMismatchException error) {
      // Another attempt would read the same bytes.
      return Verdict.bury(error.getMessage());
    }
  }

  private static Message<byte[]> message(Delivery delivery) {
    Map<String, Object> headers = new HashMap<>(delivery.headers());
    headers.put(TarryHeaders.QUEUE, delivery.queue());
    headers.put(TarryHeaders.KEY, delivery.key());
    headers.put(TarryHeaders.ID, delivery.id());
    headers.put(TarryHeaders.ATTEMPT, delivery.attempt());
    headers.put(TarryHeaders.DUE, delivery.message().due());
    headers.put(TarryHeaders.DELIVERY, delivery);
    return new GenericMessage<>(delivery.payload(), headers);
  }
}
