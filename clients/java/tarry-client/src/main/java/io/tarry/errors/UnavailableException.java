package io.tarry.errors;

/** {@code unavailable}, {@code closing}, {@code closed}: nothing was done. */
public final class UnavailableException extends TarryException {
  private static final long serialVersionUID = 1L;

  UnavailableException(String code, String detail, int status) {
    super(code, detail, status, NextStep.RETRY_LATER);
  }
}
