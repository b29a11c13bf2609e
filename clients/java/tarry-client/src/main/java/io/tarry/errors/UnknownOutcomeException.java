package io.tarry.errors;

/** {@code unknown_outcome}: the answer was lost; the request may have been carried out. */
public final class UnknownOutcomeException extends TarryException {
  private static final long serialVersionUID = 1L;

  UnknownOutcomeException(String code, String detail, int status) {
    super(code, detail, status, NextStep.LOOK_FIRST);
  }
}
