package io.tarry.errors;

/** {@code damaged}, {@code io_error}: the server's store is broken. */
public final class ServerFailureException extends TarryException {
  private static final long serialVersionUID = 1L;

  ServerFailureException(String code, String detail, int status) {
    super(code, detail, status, NextStep.PAGE_SOMEONE);
  }
}
