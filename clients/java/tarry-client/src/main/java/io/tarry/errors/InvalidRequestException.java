package io.tarry.errors;

/**
 * {@code invalid_argument}, {@code too_large}, {@code misuse}: a value is not allowed, or over a
 * limit.
 */
public final class InvalidRequestException extends TarryException {
  private static final long serialVersionUID = 1L;

  InvalidRequestException(String code, String detail, int status) {
    super(code, detail, status, NextStep.FIX_THE_INPUT);
  }
}
