package io.tarry.errors;

import java.util.Map;

/**
 * The base of all errors of this library. {@link #code} is one of the codes in
 * docs/reference/errors.md, and {@link #next} says what to do.
 */
public class TarryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final Map<Integer, String> BY_STATUS =
      Map.ofEntries(
          Map.entry(401, "permission_denied"),
          Map.entry(403, "permission_denied"),
          Map.entry(404, "not_found"),
          Map.entry(408, "unavailable"),
          Map.entry(409, "conflict"),
          Map.entry(413, "too_large"),
          Map.entry(421, "permission_denied"),
          Map.entry(429, "unavailable"),
          Map.entry(431, "too_large"),
          Map.entry(501, "unsupported"),
          Map.entry(503, "unavailable"));

  private final String code;
  private final String detail;
  private final int status;
  private final NextStep next;

  TarryException(String code, String detail, int status, NextStep next) {
    super(detail + " (" + code + ": " + next.advice() + ")");
    this.code = code;
    this.detail = detail;
    this.status = status;
    this.next = next;
  }

  /** Stable; see docs/reference/errors.md. */
  public String code() {
    return code;
  }

  /** What was wrong, without the advice. For people; may change. */
  public String detail() {
    return detail;
  }

  /** The HTTP status; 0 if no server answered. */
  public int status() {
    return status;
  }

  /** What to do. */
  public NextStep next() {
    return next;
  }

  /** The error of that code, in its class. */
  public static TarryException of(String code, String detail, int status) {
    TarryException known = known(code, detail, status);
    return known != null ? known : new ServerFailureException(code, detail, status);
  }

  private static TarryException known(String code, String detail, int status) {
    switch (code) {
      case "invalid_argument":
      case "too_large":
      case "misuse":
        return new InvalidRequestException(code, detail, status);
      case "unsupported":
        return new UnsupportedException(code, detail, status);
      case "not_found":
        return new NotFoundException(code, detail, status);
      case "conflict":
        return new ConflictException(code, detail, status);
      case "unavailable":
      case "closing":
      case "closed":
        return new UnavailableException(code, detail, status);
      case "no_space":
        return new NoSpaceException(code, detail, status);
      case "unknown_outcome":
        return new UnknownOutcomeException(code, detail, status);
      case "permission_denied":
        return new PermissionDeniedException(code, detail, status);
      case "damaged":
      case "io_error":
        return new ServerFailureException(code, detail, status);
      default:
        return null;
    }
  }

  /**
   * The error that an answer tells. Without a code of ours the status decides: an answer that is
   * neither 200 nor a refusal may mean that the request was carried out.
   */
  public static TarryException ofAnswer(int status, String reason, Object said) {
    Map<?, ?> problem = said instanceof Map ? (Map<?, ?>) said : Map.of();
    Object detail = problem.get("detail");
    String line = detail == null ? "the server answered " + status + " " + reason : "" + detail;
    TarryException told = known("" + problem.get("code"), line, status);
    if (told != null) {
      return told;
    }
    String otherwise = status >= 400 && status < 500 ? "invalid_argument" : "unknown_outcome";
    return of(BY_STATUS.getOrDefault(status, otherwise), line, status);
  }
}
