package io.tarry.internal;

/** The request may have been carried out, and its answer was lost. */
public final class Lost extends Exception {
  private static final long serialVersionUID = 1L;

  public Lost(String message) {
    super(message);
  }
}
