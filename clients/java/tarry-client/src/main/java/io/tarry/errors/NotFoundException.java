package io.tarry.errors;

/** {@code not_found}: there is no such queue or message. */
public final class NotFoundException extends TarryException {
  private static final long serialVersionUID = 1L;

  NotFoundException(String code, String detail, int status) {
    super(code, detail, status, NextStep.CHECK_THE_NAME);
  }
}
