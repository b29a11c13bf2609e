package io.tarry.springtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.tarry.QueueInfo;
import io.tarry.TarryClient;
import io.tarry.spring.TarryListener;
import io.tarry.spring.TarryTemplate;
import io.tarry.spring.autoconfigure.TarryAutoConfiguration;
import io.tarry.spring.autoconfigure.TarryFailureAnalyzer;
import io.tarry.spring.listener.TarryListenerRegistry;
import io.tarry.testing.TarryServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** How an application starts and stops, beside a server with tokens. */
class StartTest {
  private static final String TOKEN = "a-token-of-the-test-that-is-long-enough";
  @TempDir static Path place;
  private static TarryServer server;

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(TarryAutoConfiguration.class));

  @BeforeAll
  static void start() throws IOException {
    Path file = Files.writeString(place.resolve("token"), TOKEN + "\n");
    server = TarryServer.start("--token-file", file.toString());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private ApplicationContextRunner at(String url, String... properties) {
    return runner.withPropertyValues("tarry.url=" + url).withPropertyValues(properties);
  }

  private static String told(Throwable failure) {
    FailureAnalysis analysis = new TarryFailureAnalyzer().analyze(failure);
    return analysis.getDescription() + "\n" + analysis.getAction();
  }

  private static String nobody() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "http://127.0.0.1:" + socket.getLocalPort();
    }
  }

  @Test
  void wrongUrl() {
    at("htp://x")
        .run(app -> assertThat(told(app.getStartupFailure())).contains("htp://x", "tarry.url"));
  }

  @Test
  void missingAndWrongToken() {
    at(server.url())
        .run(app -> assertThat(told(app.getStartupFailure())).contains("tarry.token is not set"));
    at(server.url(), "tarry.token=another")
        .run(
            app -> assertThat(told(app.getStartupFailure())).contains("does not accept the token"));
    at(server.url(), "tarry.token=" + TOKEN).run(app -> assertThat(app).hasNotFailed());
  }

  @Test
  void serverThatIsAway() throws IOException {
    String url = nobody();
    at(url).run(app -> assertThat(app).hasNotFailed());
    at(url, "tarry.fail-fast=true")
        .run(app -> assertThat(told(app.getStartupFailure())).contains(url, "tarry.fail-fast"));
  }

  @Test
  void wrongListener() {
    ApplicationContextRunner app = at(server.url(), "tarry.token=" + TOKEN);
    app.withBean(Future.class)
        .run(one -> assertThat(one.getStartupFailure()).hasMessageContaining("returns String"));
    app.withBean(Many.class)
        .run(
            one ->
                assertThat(one.getStartupFailure())
                    .hasMessageContaining("concurrency \"2000\" must be a number from 1 to 1024"));
  }

  static class Future {
    @TarryListener(queue = "q")
    String handle(String text) {
      return text;
    }
  }

  static class Many {
    @TarryListener(queue = "q", concurrency = "2000")
    void handle(String text) {}
  }

  static class Holds {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);

    @TarryListener(queue = "held", id = "holds", concurrency = "1")
    void handle(String text) throws InterruptedException {
      begun.countDown();
      go.await();
    }
  }

  @Test
  void stopFinishesWhatRunsAndGivesBackTheRest() throws Exception {
    Holds holds = new Holds();
    at(server.url(), "tarry.token=" + TOKEN, "tarry.listener.auto-startup=false")
        .withBean(Holds.class, () -> holds)
        .run(
            app -> {
              TarryTemplate tarry = app.getBean(TarryTemplate.class);
              for (String key : new String[] {"1", "2", "3"}) {
                tarry.push("held", key, "x");
              }
              app.getBean(TarryListenerRegistry.class).listener("holds").start();
              holds.begun.await();
              Thread stops = new Thread(app.getSourceApplicationContext()::close);
              stops.start();
              try (TarryClient client =
                  TarryClient.builder().url(server.url()).token(TOKEN).build()) {
                while (client.queue("held").info().ready() < 2) {
                  Thread.onSpinWait();
                }
                assertThat(stops.isAlive()).isTrue();
                holds.go.countDown();
                stops.join();
                QueueInfo held = client.queue("held").info();
                assertThat(held.ready()).isEqualTo(2);
                assertThat(held.leased()).isZero();
              }
            });
  }
}
