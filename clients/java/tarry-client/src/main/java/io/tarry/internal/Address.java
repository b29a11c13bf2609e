package io.tarry.internal;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import javax.net.ssl.SSLContext;

/** Where the server is: host and port, or the path of a unix socket; with TLS or without. */
public final class Address {
  private static final String UNIX = "http+unix://";

  private final String url;
  private final String host;
  private final int port;
  private final String path;
  private final SSLContext tls;

  private Address(String url, String host, int port, String path, SSLContext tls) {
    this.url = url;
    this.host = host;
    this.port = port;
    this.path = path;
    this.tls = tls;
  }

  /** Throws {@link IllegalArgumentException} with one line that says what is wrong. */
  public static Address of(String url, Tls tls) {
    if (url.startsWith(UNIX)) {
      if (!url.startsWith("/", UNIX.length())) {
        throw new IllegalArgumentException("the URL " + url + " must be http+unix:///PATH");
      }
      refuse(url, tls);
      return new Address(url, "localhost", 0, URI.create(url.substring(7)).getPath(), null);
    }
    URI uri;
    try {
      uri = URI.create(url);
    } catch (IllegalArgumentException error) {
      throw new IllegalArgumentException("the URL " + url + " is not one: " + error.getMessage());
    }
    boolean secure = "https".equals(uri.getScheme());
    if (!secure && !"http".equals(uri.getScheme())) {
      throw new IllegalArgumentException(
          "the URL " + url + " must begin with http://, https:// or http+unix:///");
    }
    if (uri.getUserInfo() != null) {
      throw new IllegalArgumentException(
          "the URL of a server has no user; the token goes into token() or TARRY_TOKEN");
    }
    boolean bare = uri.getPath() == null || uri.getPath().isEmpty() || uri.getPath().equals("/");
    if (uri.getHost() == null || !bare || uri.getQuery() != null) {
      throw new IllegalArgumentException(
          "the URL " + url + " must be " + uri.getScheme() + "://HOST:PORT and no more");
    }
    String host = uri.getHost().replaceAll("[\\[\\]]", "");
    if (!secure) {
      refuse(url, tls);
      return new Address(url, host, uri.getPort() < 0 ? 80 : uri.getPort(), null, null);
    }
    return new Address(url, host, uri.getPort() < 0 ? 443 : uri.getPort(), null, tls.context());
  }

  private static void refuse(String url, Tls tls) {
    if (tls.isGiven()) {
      throw new IllegalArgumentException(
          url + " has no TLS, so ca, certificate and tls have no use; https://?");
    }
  }

  public String url() {
    return url;
  }

  String hostHeader() {
    return path != null ? "localhost" : (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  Wire connect(long deadline) throws IOException {
    if (path != null) {
      return ChannelWire.unix(path, deadline);
    }
    if (tls != null) {
      return new TlsWire(tls, host, port, deadline);
    }
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new IOException("the host " + host + " has no address");
    }
    return ChannelWire.tcp(address, deadline);
  }
}
