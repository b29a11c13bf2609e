package io.tarry.spring.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The application's settings of tarry.
 *
 * @param url the server: {@code http://HOST:PORT}, {@code https://HOST:PORT} or, with Java 16 or
 *     newer, {@code http+unix:///PATH}
 * @param token the token, if the server asks for one
 * @param sslBundle name of the SSL bundle ({@code spring.ssl.bundle}) with the server's authority
 *     and the client's certificate
 * @param timeout for one answer
 * @param patience how long a call is tried again while nothing was done, because the server is away
 *     or refuses for the moment
 * @param agent names this process to operators; else the application's name
 * @param failFast whether the application refuses to start while the server cannot be reached; a
 *     token that the server refuses always ends the start
 * @param listener settings of all {@code @TarryListener}s
 */
@ConfigurationProperties("tarry")
public record TarryProperties(
    @DefaultValue("http://127.0.0.1:7733") String url,
    String token,
    String sslBundle,
    @DefaultValue("30s") Duration timeout,
    @DefaultValue("10s") Duration patience,
    String agent,
    @DefaultValue("false") boolean failFast,
    @DefaultValue Listener listener) {
  /**
   * Settings of all listeners.
   *
   * @param concurrency calls at once, of each listener
   * @param prefetch messages claimed ahead, by each listener
   * @param lease of claims; else the queue's
   * @param drain how long a stop waits for running calls; at most
   *     spring.lifecycle.timeout-per-shutdown-phase
   * @param autoStartup whether listeners start with the application
   */
  public record Listener(
      @DefaultValue("4") int concurrency,
      @DefaultValue("64") int prefetch,
      Duration lease,
      @DefaultValue("25s") Duration drain,
      @DefaultValue("true") boolean autoStartup) {}

  /** Not the token: a value that is logged must not tell it. */
  @Override
  public String toString() {
    return "TarryProperties[url=" + url + "]";
  }
}
