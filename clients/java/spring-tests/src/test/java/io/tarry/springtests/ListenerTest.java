package io.tarry.springtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.tarry.Message;
import io.tarry.Outcome;
import io.tarry.Result;
import io.tarry.State;
import io.tarry.Stored;
import io.tarry.errors.NotFoundException;
import io.tarry.spring.TarryTemplate;
import io.tarry.spring.listener.TarryListenerContainer;
import io.tarry.spring.listener.TarryListenerRegistry;
import io.tarry.spring.test.TarryTest;
import io.tarry.spring.test.TarryTestClock;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;

@TarryTest
@SpringBootTest(properties = {"texts.concurrency=2", "spring.application.name=the shop"})
class ListenerTest {
  @Autowired TarryTemplate tarry;
  @Autowired TarryTestClock clock;
  @Autowired TarryListenerRegistry listeners;
  @Autowired MeterRegistry meters;
  @Autowired ApplicationContext context;
  @Autowired Application application;

  @BeforeEach
  void forget() {
    application.said.clear();
  }

  private List<String> said() {
    return application.said.stream().filter(one -> !one.contains(Application.TRACE)).toList();
  }

  private Stored dead(String queue) {
    return tarry.queue(queue).dead().iterator().next();
  }

  @Test
  void textsAndBytes() {
    assertThat(tarry.push("texts", "a", "Grüße").outcome()).isEqualTo(Outcome.PUSHED);
    tarry.push("bytes", "b", new byte[] {1, -1, 0});
    clock.awaitListeners();
    assertThat(said()).containsExactlyInAnyOrder("a=Grüße", "b=3");
  }

  @Test
  void objectsAreJson() {
    Application.Order order = new Application.Order("42", 1990);
    tarry.push(
        "orders", tarry.message(order).key("o").header("shop", "eu").in(Duration.ofHours(1)));
    assertThat(new String(tarry.get("orders", "o").payload(), StandardCharsets.UTF_8))
        .isEqualTo("{\"id\":\"42\",\"cents\":1990}");
    tarry.push("lists", "l", List.of(order), Duration.ofHours(1));
    clock.advance(Duration.ofMinutes(59));
    assertThat(said()).isEmpty();
    clock.advance(Duration.ofMinutes(1));
    assertThat(said())
        .containsExactlyInAnyOrder(
            "Order[id=42, cents=1990] of eu, attempt 1", "l=[Order[id=42, cents=1990]]");
  }

  @Test
  void verdictsAndErrors() {
    tarry.push("verdicts", "v", "v");
    clock.awaitListeners();
    clock.advance(Duration.ofMinutes(5));
    assertThat(said()).containsExactly("v 1", "v 2");
    assertThat(dead("verdicts").reason()).contains("twice");
    tarry.push("errors", Message.of("lamp").key("e").maxAttempts(1));
    clock.awaitListeners();
    assertThat(dead("errors").reason().toString()).contains("no lamp");
  }

  @Test
  void payloadThatCannotBeReadIsBuriedAtOnce() {
    tarry.push("orders", Message.of("{no json").key("bad").header("shop", "eu"));
    clock.awaitListeners();
    assertThat(said()).isEmpty();
    assertThat(dead("orders").attempt()).isEqualTo(1);
    assertThat(dead("orders").reason().toString()).contains("no io.tarry.springtests.Application");
  }

  @Test
  void templateChangesWhatWaits() {
    Instant due = Instant.parse("2100-01-01T00:00:00Z");
    tarry.push("texts", "t", "later", due);
    assertThat(tarry.get("texts", "t").state()).isEqualTo(State.SCHEDULED);
    assertThat(tarry.push("texts", "t", "again", due).outcome()).isEqualTo(Outcome.EXISTS);
    assertThat(tarry.replace("texts", "t", "other", Duration.ofDays(1)).outcome())
        .isEqualTo(Outcome.REPLACED);
    assertThat(tarry.reschedule("texts", "t", due).due()).contains(due);
    assertThat(tarry.cancel("texts", "t").outcome()).isEqualTo(Outcome.CANCELLED);
    assertThatThrownBy(() -> tarry.get("texts", "t")).isInstanceOf(NotFoundException.class);
    List<Message> both =
        List.of(Message.of("1").key("1").at(due), Message.of("2").key("2").at(due));
    assertThat(tarry.push("texts", both)).allMatch(one -> one.error().isEmpty());
    assertThat(tarry.cancel("texts", List.of("1", "2")))
        .extracting(Result::value)
        .allMatch(one -> one.outcome() == Outcome.CANCELLED);
    assertThatThrownBy(() -> tarry.message(new Broken()))
        .hasMessageContaining("Broken is not written as JSON");
  }

  /** No Jackson writes it. */
  static class Broken {
    public int getCents() {
      throw new IllegalStateException("no cents");
    }
  }

  @Test
  void traceTravelsWithTheMessage() {
    tarry.push("texts", "traced", "x");
    clock.awaitListeners();
    assertThat(application.said).contains("process texts in " + Application.TRACE);
  }

  @Test
  void figures() {
    long before = counted("deliveries");
    tarry.push("texts", "f", "x");
    clock.awaitListeners();
    assertThat(counted("deliveries")).isEqualTo(before + 1);
    assertThat(counted("settled", "outcome", "acked")).isEqualTo(before + 1);
    assertThat(counted("settled", "outcome", "stale")).isZero();
    assertThat(timed("tarry.listener.lateness", "queue")).isEqualTo(before + 1);
    assertThat(timed("tarry.process", "messaging.destination.name")).isEqualTo(before + 1);
    assertThat(timed("tarry.push", "messaging.destination.name")).isPositive();
    assertThat(meters.get("tarry.listener.active").tag("queue", "texts").gauge().value()).isZero();
  }

  private long counted(String figure, String... tags) {
    return (long)
        meters
            .get("tarry.listener." + figure)
            .tag("listener", "texts")
            .tags(tags)
            .functionCounter()
            .count();
  }

  private long timed(String name, String tag) {
    return meters.get(name).tag(tag, "texts").timer().count();
  }

  @Test
  void settingsOfListeners() {
    assertThat(listeners.listener("texts").settings().concurrency()).isEqualTo(2);
    TarryListenerContainer bytes = listeners.listener("application.bytes");
    assertThat(bytes.settings().prefetch()).isZero();
    assertThat(bytes.settings().lease()).isEqualTo(Duration.ofMinutes(5));
    assertThat(bytes.settings().drain()).isEqualTo(Duration.ofSeconds(25));
    bytes.stop();
    assertThat(bytes.isRunning()).isFalse();
    tarry.push("bytes", "waits", new byte[4]);
    clock.awaitListeners();
    assertThat(said()).isEmpty();
    bytes.start();
    clock.awaitListeners();
    assertThat(said()).containsExactly("waits=4");
    assertThat(bytes.count(TarryListenerContainer.Figure.ACKED)).isPositive();
  }

  /** Spring Boot 3 and 4 have different classes of health. */
  @Test
  void health() throws Exception {
    Object indicator = context.getBean("tarryHealthContributor");
    Method method = indicator.getClass().getMethod("health");
    method.setAccessible(true);
    assertThat(method.invoke(indicator).toString()).contains("UP").contains("engine=embedded");
  }
}
