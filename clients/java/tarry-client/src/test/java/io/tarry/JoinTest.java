package io.tarry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.tarry.internal.Json;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/** Settlements that go with a claim, before a server that is none. Run it with {@code -ea}. */
final class JoinTest {
  /** What the server does with the first claim that settles. */
  private enum First {
    TAKES,
    REFUSES,
    IS_OLDER,
    LOSES_THE_ANSWER,
    FAILS_TO_CLAIM
  }

  private static final int MESSAGES = 3;

  private final First first;
  private final List<String> joined = new ArrayList<>();
  private final List<String> alone = new ArrayList<>();
  private final CountDownLatch settled = new CountDownLatch(MESSAGES);
  private final CountDownLatch over = new CountDownLatch(1);
  private boolean done;
  private int given;

  private JoinTest(First first) {
    this.first = first;
  }

  public static void main(String[] arguments) throws Exception {
    same(List.of("r1", "r2", "r3"), new JoinTest(First.TAKES).run().joined);
    JoinTest refused = new JoinTest(First.REFUSES).run();
    same("r1", refused.alone.get(0));
    JoinTest older = new JoinTest(First.IS_OLDER).run();
    same(List.of("r1", "r2", "r3"), older.alone);
    JoinTest lost = new JoinTest(First.LOSES_THE_ANSWER).run();
    same("r1", lost.alone.get(0));
    JoinTest failed = new JoinTest(First.FAILS_TO_CLAIM).run();
    same("r1", failed.joined.get(0));
    same(false, failed.alone.contains("r1"));
    System.out.println("join done");
  }

  private static void same(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError(actual + " instead of " + expected);
    }
  }

  private JoinTest run() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.setExecutor(
        Executors.newCachedThreadPool(
            work -> {
              Thread thread = new Thread(work);
              thread.setDaemon(true);
              return thread;
            }));
    server.createContext("/v1/claim", exchange -> answer(exchange, this::claim));
    server.createContext("/v1/settle", exchange -> answer(exchange, this::settle));
    server.start();
    try (TarryClient client =
        TarryClient.open("http://127.0.0.1:" + server.getAddress().getPort())) {
      TarryWorker worker =
          TarryWorker.builder(client)
              .handle("q", delivery -> Verdict.ack())
              .concurrency(1)
              .prefetch(0)
              .start();
      settled.await();
      over.countDown();
      worker.close();
      same((long) MESSAGES, worker.counts().delivered());
      same((long) MESSAGES, worker.counts().acked());
      same(0L, worker.counts().stale());
    } finally {
      server.stop(0);
    }
    return this;
  }

  private interface Handler {
    String handle(Map<String, Object> body) throws InterruptedException;
  }

  private static void answer(HttpExchange exchange, Handler handler) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    String said;
    try {
      said = handler.handle(Json.object(Json.parse(new String(body, StandardCharsets.UTF_8))));
    } catch (InterruptedException error) {
      said = "";
    }
    int status = said.startsWith("{\"code\"") ? 400 : 200;
    if (said.contains("unavailable") && status == 400) {
      status = 429;
    }
    byte[] bytes = said.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private String claim(Map<String, Object> body) throws InterruptedException {
    boolean waits = body.containsKey("wait_ms") && (Long) body.get("wait_ms") > 0;
    synchronized (this) {
      StringBuilder said = new StringBuilder("{\"messages\":[");
      boolean isFirst = !done && body.containsKey("settle");
      done = done || isFirst;
      if (isFirst && first == First.REFUSES) {
        return "{\"code\":\"unavailable\",\"detail\":\"too many\"}";
      } else if (isFirst && first == First.IS_OLDER) {
        return "{\"code\":\"invalid_argument\",\"detail\":\"unknown field settle\"}";
      } else if (isFirst && first == First.LOSES_THE_ANSWER) {
        return "half an ans";
      }
      boolean claims = !(isFirst && first == First.FAILS_TO_CLAIM);
      boolean gives = given < MESSAGES && claims;
      if (gives) {
        given++;
        said.append("{\"queue\":\"q\",\"id\":\"i\",\"key\":\"k\",\"payload\":\"\",\"receipt\":\"r");
        said.append(given).append("\",\"lease_ms\":60000,\"due_ms\":0}");
      }
      said.append(']');
      if (body.containsKey("settle")) {
        said.append(",\"settled\":").append(results(body.get("settle"), joined));
      }
      if (!claims) {
        said.append(",\"error\":{\"code\":\"unavailable\",\"message\":\"no claim\"}");
      }
      if (gives || !waits) {
        return said.append('}').toString();
      }
    }
    over.await();
    return "{\"messages\":[]}";
  }

  private synchronized String settle(Map<String, Object> body) {
    return "{\"results\":" + results(body.get("items"), alone) + "}";
  }

  private String results(Object items, List<String> receipts) {
    List<Object> said = new ArrayList<>();
    for (Object one : Json.list(items)) {
      receipts.add(Json.text(Json.object(one), "receipt"));
      said.add(Map.of("outcome", "done"));
      settled.countDown();
    }
    return Json.write(said);
  }
}
