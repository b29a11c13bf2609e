package io.tarry.errors;

/** {@code unsupported}: the server's store can never do this. */
public final class UnsupportedException extends TarryException {
  private static final long serialVersionUID = 1L;

  UnsupportedException(String code, String detail, int status) {
    super(code, detail, status, NextStep.DO_WITHOUT);
  }
}
