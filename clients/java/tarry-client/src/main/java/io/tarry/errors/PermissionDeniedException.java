package io.tarry.errors;

/** {@code permission_denied}: no valid token, or one without the scope. */
public final class PermissionDeniedException extends TarryException {
  private static final long serialVersionUID = 1L;

  PermissionDeniedException(String code, String detail, int status) {
    super(code, detail, status, NextStep.FIX_THE_TOKEN);
  }
}
