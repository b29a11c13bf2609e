"""Errors: a code, one line about what was wrong, and what to do next."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type


class TarryError(Exception):
    """The base of all errors of this library.

    `code` is one of the codes in docs/reference/errors.md; `status` is the HTTP status, if the
    server answered; `next_step` says what to do, and `advice` says it in words.
    """

    next_step = "page_someone"
    advice = "tell the operator of the server; its log has more"

    def __init__(self, message: str, code: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status

    def __str__(self) -> str:
        return f"{self.message} ({self.code}: {self.advice})"

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.code, self.status)


class InvalidRequest(TarryError):
    """`invalid_argument`, `too_large`, `misuse`: a value is not allowed, or over a limit."""

    next_step = "fix_the_input"
    advice = "fix the input; repeating it does not help"


class Unsupported(TarryError):
    """`unsupported`: the server's store can never do this."""

    next_step = "do_without"
    advice = "do without it, or use another store or a newer server"


class NotFound(TarryError):
    """`not_found`: there is no such queue or message."""

    next_step = "check_the_name"
    advice = "check the name"


class Conflict(TarryError):
    """`conflict`: another client was first."""

    next_step = "wait_or_give_up"
    advice = "wait, or give up"


class Unavailable(TarryError):
    """`unavailable`, `closing`, `closed`: nothing was done, and the server may be back soon."""

    next_step = "retry_later"
    advice = "nothing was done; try again later"


class NoSpace(TarryError):
    """`no_space`: the store is full. Nothing was accepted."""

    next_step = "make_room"
    advice = "nothing was done; make room in the store, then try again"


class UnknownOutcome(TarryError):
    """`unknown_outcome`: the answer was lost, so the request may have been carried out or not."""

    next_step = "look_first"
    advice = "it may have been done; check what is there before you repeat it"


class PermissionDenied(TarryError):
    """`permission_denied`: no valid token, or one without the scope."""

    next_step = "fix_the_token"
    advice = "fix the token or its scopes"


class ServerFailure(TarryError):
    """`damaged`, `io_error`: the server's store is broken."""


_CLASSES: Dict[str, Type[TarryError]] = {
    "invalid_argument": InvalidRequest, "too_large": InvalidRequest, "misuse": InvalidRequest,
    "unsupported": Unsupported, "not_found": NotFound, "conflict": Conflict,
    "unavailable": Unavailable, "closing": Unavailable, "closed": Unavailable,
    "no_space": NoSpace, "unknown_outcome": UnknownOutcome,
    "permission_denied": PermissionDenied, "damaged": ServerFailure, "io_error": ServerFailure,
}
_BY_STATUS = {401: "permission_denied", 403: "permission_denied", 404: "not_found",
              408: "unavailable", 409: "conflict", 413: "too_large", 421: "permission_denied",
              429: "unavailable", 431: "too_large", 501: "unsupported", 503: "unavailable"}


def error_of(code: str, message: str, status: Optional[int] = None) -> TarryError:
    """The error of that code, in its class."""
    return _CLASSES.get(code, TarryError)(message, code, status)


def problem_of(status: int, said: object, reason: str) -> TarryError:
    """The error that an answer tells. Without a code of ours, the status decides: an answer that
    is neither 200 nor a refusal may mean that the request was carried out."""
    problem: Mapping[str, Any] = said if isinstance(said, dict) else {}
    code = problem.get("code")
    if code not in _CLASSES:
        code = _BY_STATUS.get(status)
        if code is None:
            code = "invalid_argument" if 400 <= status < 500 else "unknown_outcome"
    return error_of(code, str(problem.get("detail", f"the server answered {status} {reason}")),
                    status)
