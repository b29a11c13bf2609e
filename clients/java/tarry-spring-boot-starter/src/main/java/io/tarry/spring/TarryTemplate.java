package io.tarry.spring;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.SenderContext;
import io.tarry.Changed;
import io.tarry.IfExists;
import io.tarry.Message;
import io.tarry.Pushed;
import io.tarry.Reschedule;
import io.tarry.Result;
import io.tarry.Stored;
import io.tarry.TarryClient;
import io.tarry.TarryQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.converter.MessageConverter;

/**
 * Pushes messages, and changes what waits. A payload is a {@code String}, a {@code byte[]}, or an
 * object that Jackson writes as JSON. Calls throw {@link io.tarry.errors.TarryException}. Thread
 * safe.
 */
public class TarryTemplate {
  private final TarryClient client;
  private final MessageConverter converter;
  private final ObservationRegistry observations;

  /** A template over that client. */
  public TarryTemplate(
      TarryClient client, MessageConverter converter, ObservationRegistry observations) {
    this.client = client;
    this.converter = converter;
    this.observations = observations;
  }

  /** The queue, with every verb. */
  public TarryQueue queue(String queue) {
    return client.queue(queue);
  }

  /** Due now. */
  public Pushed push(String queue, String key, Object payload) {
    return push(queue, message(payload).key(key));
  }

  /** Due after the delay. If the key is taken nothing changes: look at the outcome. */
  public Pushed push(String queue, String key, Object payload, Duration delay) {
    return push(queue, message(payload).key(key).in(delay));
  }

  /** The same, with a delay such as {@code 30m} or {@code PT30M}. */
  public Pushed push(String queue, String key, Object payload, String delay) {
    return push(queue, key, payload, DurationStyle.detectAndParse(delay));
  }

  /** Due at that time. If the key is taken nothing changes: look at the outcome. */
  public Pushed push(String queue, String key, Object payload, Instant due) {
    return push(queue, message(payload).key(key).at(due));
  }

  /** Due after the delay; a waiting message of this key is replaced. */
  public Pushed replace(String queue, String key, Object payload, Duration delay) {
    return push(queue, message(payload).key(key).in(delay).ifExists(IfExists.REPLACE));
  }

  /** Pushes a message that {@link #message} made. */
  public Pushed push(String queue, Message message) {
    return observed(queue, message, () -> client.queue(queue).push(message));
  }

  /** Pushes messages in one request: what happened, or the error, of each. */
  public List<Result<Pushed>> push(String queue, Collection<Message> messages) {
    return client.queue(queue).push(messages);
  }

  /** A message with that payload, for headers, a priority or {@code ifExists}. */
  public Message message(Object payload) {
    if (payload instanceof byte[] bytes) {
      return Message.of(bytes);
    } else if (payload instanceof CharSequence text) {
      return Message.of(text.toString());
    }
    org.springframework.messaging.Message<?> made =
        converter.toMessage(payload, new MessageHeaders(null));
    if (made == null || !(made.getPayload() instanceof byte[] bytes)) {
      throw new MessageConversionException(
          "a payload of "
              + payload.getClass().getName()
              + " is neither a String nor a byte[], and no converter writes it: add Jackson");
    }
    return Message.of(bytes);
  }

  /** Cancels a message. */
  public Changed cancel(String queue, String key) {
    return client.queue(queue).cancel(key);
  }

  /** Cancels messages: what happened, or the error, of each. */
  public List<Result<Changed>> cancel(String queue, Collection<String> keys) {
    return client.queue(queue).cancel(keys);
  }

  /** Due after that delay instead. */
  public Changed reschedule(String queue, String key, Duration delay) {
    return client.queue(queue).reschedule(key, delay);
  }

  /** The same, with a delay such as {@code 1h} or {@code PT1H}. */
  public Changed reschedule(String queue, String key, String delay) {
    return reschedule(queue, key, DurationStyle.detectAndParse(delay));
  }

  /** Due at that time instead. */
  public Changed reschedule(String queue, String key, Instant due) {
    return client.queue(queue).reschedule(key, due);
  }

  /** Moves messages: what happened, or the error, of each. */
  public List<Result<Changed>> reschedule(String queue, Collection<Reschedule> items) {
    return client.queue(queue).reschedule(items);
  }

  /** Throws {@link io.tarry.errors.NotFoundException} if there is none. */
  public Stored get(String queue, String key) {
    return client.queue(queue).get(key);
  }

  private Pushed observed(String queue, Message message, Supplier<Pushed> push) {
    SenderContext<Message> context = new SenderContext<>(Message::header);
    context.setCarrier(message);
    context.setRemoteServiceName("tarry");
    return Observation.createNotStarted("tarry.push", () -> context, observations)
        .contextualName("push " + queue)
        .lowCardinalityKeyValue("messaging.system", "tarry")
        .lowCardinalityKeyValue("messaging.destination.name", queue)
        .observe(push);
  }
}
