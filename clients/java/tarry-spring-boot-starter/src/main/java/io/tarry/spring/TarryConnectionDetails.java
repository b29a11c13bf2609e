package io.tarry.spring;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/** Where the server is. A bean of this type wins over {@code tarry.url} and {@code tarry.token}. */
public interface TarryConnectionDetails extends ConnectionDetails {
  /** {@code http://HOST:PORT}, {@code https://HOST:PORT} or {@code http+unix:///PATH}. */
  String url();

  /** Null: none. */
  default String token() {
    return null;
  }
}
