package io.tarry.spring.autoconfigure;

import io.tarry.TarryClient;
import io.tarry.spring.TarryClientCustomizer;
import io.tarry.spring.TarryConnectionDetails;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;

/** Makes clients with the application's settings. */
final class TarryClients {
  private static final Duration PROBE = Duration.ofSeconds(5);

  private final TarryConnectionDetails details;
  private final TarryProperties properties;
  private final String agent;
  private final SSLContext tls;
  private final List<TarryClientCustomizer> customizers;

  TarryClients(
      TarryConnectionDetails details,
      TarryProperties properties,
      String agent,
      SSLContext tls,
      List<TarryClientCustomizer> customizers) {
    this.details = details;
    this.properties = properties;
    this.agent = agent;
    this.tls = tls;
    this.customizers = customizers;
  }

  String url() {
    return details.url();
  }

  boolean hasToken() {
    return details.token() != null && !details.token().isEmpty();
  }

  TarryClient client() {
    return build(properties.timeout(), properties.patience());
  }

  /** A client that asks once, and soon has an answer. */
  TarryClient probe() {
    Duration timeout = properties.timeout();
    return build(timeout.compareTo(PROBE) < 0 ? timeout : PROBE, null);
  }

  private TarryClient build(Duration timeout, Duration patience) {
    try {
      TarryClient.Builder builder = TarryClient.builder().url(details.url()).timeout(timeout);
      builder.token(hasToken() ? details.token() : null);
      if (agent != null) {
        builder.agent(agent);
      }
      if (tls != null) {
        builder.tls(tls);
      }
      builder.patience(patience == null ? Duration.ZERO : patience);
      customizers.forEach(one -> one.customize(builder));
      if (patience == null) {
        builder.timeout(timeout).patience(Duration.ZERO);
      }
      return builder.build();
    } catch (IllegalArgumentException error) {
      throw new TarryStartException(TarryStartException.Kind.SETTINGS, details.url(), error);
    }
  }
}
