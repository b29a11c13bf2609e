package io.tarry.errors;

/** {@code no_space}: the store is full. Nothing was accepted. */
public final class NoSpaceException extends TarryException {
  private static final long serialVersionUID = 1L;

  NoSpaceException(String code, String detail, int status) {
    super(code, detail, status, NextStep.MAKE_ROOM);
  }
}
