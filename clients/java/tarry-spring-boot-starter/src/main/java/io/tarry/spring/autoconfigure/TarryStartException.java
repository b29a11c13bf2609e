package io.tarry.spring.autoconfigure;

/** Why the application cannot start. */
public final class TarryStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is wrong. */
  public enum Kind {
    /** A setting that no server would make right. */
    SETTINGS,
    /** The server wants a token, and there is none. */
    NO_TOKEN,
    /** The server does not know the token. */
    WRONG_TOKEN,
    /** No server answers there. */
    UNREACHABLE
  }

  private final Kind kind;
  private final String url;

  TarryStartException(Kind kind, String url, RuntimeException cause) {
    super("tarry at " + url + ": " + cause.getMessage(), cause);
    this.kind = kind;
    this.url = url;
  }

  /** What is wrong. */
  public Kind kind() {
    return kind;
  }

  /** The server's URL. */
  public String url() {
    return url;
  }
}
