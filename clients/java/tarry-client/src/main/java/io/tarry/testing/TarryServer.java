package io.tarry.testing;

import io.tarry.TarryClient;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server for tests, whose time stands still until {@link #advance}: {@code tarry serve
 * --test-clock} on a store in memory. The program is the environment's TARRY_PROGRAM, else the one
 * on the PATH. Claim without a wait, because waits go by the test clock too.
 */
public final class TarryServer implements AutoCloseable {
  private final Process process;
  private final Path place;
  private final String url;

  private TarryServer(Process process, Path place, String url) {
    this.process = process;
    this.place = place;
    this.url = url;
  }

  /** Starts it on a free port, with more flags of {@code tarry serve}. */
  public static TarryServer start(String... flags) {
    String program = System.getenv("TARRY_PROGRAM");
    List<String> command = new ArrayList<>();
    command.add(program == null || program.isEmpty() ? "tarry" : program);
    try {
      Path place = Files.createTempDirectory("tarry-test-");
      Path port = place.resolve("port");
      Path log = place.resolve("log");
      command.addAll(List.of("serve", "--store", "memory:", "--listen", "127.0.0.1:0"));
      command.addAll(List.of("--port-file", port.toString(), "--test-clock"));
      command.addAll(List.of(flags));
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().keySet().removeIf(name -> name.startsWith("TARRY_"));
      Process process = builder.redirectError(log.toFile()).start();
      InputStreamReader said =
          new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8);
      if (new BufferedReader(said).readLine() == null) {
        process.destroy();
        throw new IllegalStateException("tarry did not start: " + Files.readString(log));
      }
      String number = Files.readString(port).trim().split("\\s+")[0];
      return new TarryServer(process, place, "http://127.0.0.1:" + number);
    } catch (IOException error) {
      throw new UncheckedIOException(
          "tarry cannot be started; set TARRY_PROGRAM to the program", error);
    }
  }

  public String url() {
    return url;
  }

  /** A new client of it. */
  public TarryClient client() {
    return TarryClient.open(url);
  }

  /** Lets time pass. When it returns, what is due can be claimed. */
  public void advance(Duration by) {
    try (TarryClient client = client()) {
      client.advance(by);
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException error) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    File[] files = place.toFile().listFiles();
    for (File file : files == null ? new File[0] : files) {
      file.delete();
    }
    place.toFile().delete();
  }
}
