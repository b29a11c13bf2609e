// Errors: a code, one line about what was wrong, and what to do next.

/** What the caller should do about an error. */
export type NextStep =
  | "fix_the_input"
  | "do_without"
  | "check_the_name"
  | "wait_or_give_up"
  | "retry_later"
  | "make_room"
  | "look_first"
  | "fix_the_token"
  | "page_someone";

/**
 * The base of all errors of this library.
 *
 * `code` is one of the codes in docs/reference/errors.md. `status` is the HTTP status, if the server
 * answered. `nextStep` says what to do, and `advice` says it in words.
 */
export class TarryError extends Error {
  readonly nextStep: NextStep = "page_someone";
  readonly advice: string = "tell the operator of the server; its log has more";
  /** Milliseconds that the server asked to wait before the next try, if it did. */
  retryAfter?: number;

  constructor(
    /** What was wrong with which value, and the limit. */
    readonly detail: string,
    readonly code: string,
    readonly status?: number,
  ) {
    super(detail);
    this.name = new.target.name;
  }

  override toString(): string {
    return `${this.name}: ${this.detail} (${this.code}: ${this.advice})`;
  }
}

/** `invalid_argument`, `too_large`, `misuse`: a value is not allowed, or over a limit. */
export class InvalidRequest extends TarryError {
  override readonly nextStep = "fix_the_input";
  override readonly advice = "fix the input; repeating it does not help";
}

/** `unsupported`: the server's store can never do this. */
export class Unsupported extends TarryError {
  override readonly nextStep = "do_without";
  override readonly advice = "do without it, or use another store or a newer server";
}

/** `not_found`: there is no such queue or message. */
export class NotFound extends TarryError {
  override readonly nextStep = "check_the_name";
  override readonly advice = "check the name";
}

/** `conflict`: another client was first. */
export class Conflict extends TarryError {
  override readonly nextStep = "wait_or_give_up";
  override readonly advice = "wait, or give up";
}

/** `unavailable`, `closing`, `closed`: nothing was done, and the server may be back soon. */
export class Unavailable extends TarryError {
  override readonly nextStep = "retry_later";
  override readonly advice = "nothing was done; try again later";
}

/** `no_space`: the store is full. Nothing was accepted. */
export class NoSpace extends TarryError {
  override readonly nextStep = "make_room";
  override readonly advice = "nothing was done; make room in the store, then try again";
}

/** `unknown_outcome`: the answer was lost, so the request may have been carried out or not. */
export class UnknownOutcome extends TarryError {
  override readonly nextStep = "look_first";
  override readonly advice = "it may have been done; check what is there before you repeat it";
}

/** `permission_denied`: no valid token, or one without the scope. */
export class PermissionDenied extends TarryError {
  override readonly nextStep = "fix_the_token";
  override readonly advice = "fix the token or its scopes";
}

/** `damaged`, `io_error`: the server's store is broken. */
export class ServerFailure extends TarryError {}

type ErrorClass = new (detail: string, code: string, status?: number) => TarryError;

const classes = new Map<string, ErrorClass>([
  ["invalid_argument", InvalidRequest],
  ["too_large", InvalidRequest],
  ["misuse", InvalidRequest],
  ["unsupported", Unsupported],
  ["not_found", NotFound],
  ["conflict", Conflict],
  ["unavailable", Unavailable],
  ["closing", Unavailable],
  ["closed", Unavailable],
  ["no_space", NoSpace],
  ["unknown_outcome", UnknownOutcome],
  ["permission_denied", PermissionDenied],
  ["damaged", ServerFailure],
  ["io_error", ServerFailure],
]);

const byStatus = new Map<number, string>([
  [401, "permission_denied"],
  [403, "permission_denied"],
  [404, "not_found"],
  [408, "unavailable"],
  [409, "conflict"],
  [413, "too_large"],
  [421, "permission_denied"],
  [429, "unavailable"],
  [431, "too_large"],
  [501, "unsupported"],
  [503, "unavailable"],
]);

/** The error of that code, in its class. */
export function errorOf(code: string, detail: string, status?: number): TarryError {
  return new (classes.get(code) ?? TarryError)(detail, code, status);
}

/**
 * The error that an answer tells. Without a code of ours, the status decides: an answer that is
 * neither 200 nor a refusal may mean that the request was carried out.
 */
export function problemOf(status: number, said: unknown, reason: string): TarryError {
  const problem = (typeof said === "object" && said !== null ? said : {}) as {
    code?: unknown;
    detail?: unknown;
  };
  let code = problem.code;
  if (typeof code !== "string" || !classes.has(code)) {
    const clients = status >= 400 && status < 500 ? "invalid_argument" : "unknown_outcome";
    code = byStatus.get(status) ?? clients;
  }
  const detail =
    typeof problem.detail === "string" ? problem.detail : `the server answered ${status} ${reason}`;
  return errorOf(code as string, detail, status);
}

/** Whether the server may accept the same request a little later. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof Unavailable || error instanceof NoSpace || error instanceof UnknownOutcome
  );
}
