package io.tarry.errors;

/** {@code conflict}: another client was first. */
public final class ConflictException extends TarryException {
  private static final long serialVersionUID = 1L;

  ConflictException(String code, String detail, int status) {
    super(code, detail, status, NextStep.WAIT_OR_GIVE_UP);
  }
}
