package io.tarry.internal;

/** Nothing was done: the request has not left. */
public final class NotSent extends Exception {
  private static final long serialVersionUID = 1L;

  public NotSent(String message) {
    super(message);
  }
}
