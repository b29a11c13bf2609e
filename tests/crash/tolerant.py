"""Clients of a store that may be unreachable or full: a clear refusal is an answer."""

import json
import threading

from client import TIMEOUT_SECONDS, Client, WrongAnswer
from history import NO_SPACE, NOT_DONE

UNKNOWN = "unknown_outcome"
RETRY_AFTER_SECONDS = 0.02  # otherwise the history would contain mostly refusals


class Refused(Exception):
    """A whole request was refused: nothing was done, or nobody can know whether anything was."""


class Tolerant(Client):
    """Refusals with these codes go into the history with their meaning; all others are wrong."""

    codes = frozenset()

    def _check(self, code, text, operation):
        """Raises if this operation must not be refused with this code."""

    def _note(self, operation, code, text):
        self._check(code, text, operation)
        operation.known = code in NOT_DONE
        if operation.known:
            operation.outcome = code

    def _refused(self, operations, status, text, ended):
        problem = json.loads(text)
        code, detail = problem.get("code"), problem.get("detail", "")
        if code not in self.codes or status != (500 if code == UNKNOWN else 503):
            return
        for operation in operations:
            operation.ended = ended
            self._note(operation, code, detail)
        raise Refused(f"{code}: {detail}")

    def _refused_item(self, operation, error):
        if error.get("code") not in self.codes:
            super()._refused_item(operation, error)
        self._note(operation, error["code"], error["message"])


class Resigned(Tolerant):
    """For producers and consumers, which continue after a refusal."""

    def __init__(self, server, history):
        super().__init__(server, history)
        self._verbs = threading.Condition()
        self._under_way = False
        self._done = 0

    def let_pass(self):
        """Returns when the verb in progress, if any, is in the history with its answer."""
        with self._verbs:
            enough = self._done + self._under_way
            if not self._verbs.wait_for(lambda: self._done >= enough, TIMEOUT_SECONDS):
                raise WrongAnswer(f"no answer within {TIMEOUT_SECONDS} s")

    def _go_on(self, verb, *words, **more):
        with self._verbs:
            self._under_way = True
        try:
            return verb(*words, **more)
        except Refused:
            threading.Event().wait(RETRY_AFTER_SECONDS)  # nobody reports when there is room again
            return []
        finally:
            with self._verbs:
                self._under_way = False
                self._done += 1
                self._verbs.notify_all()

    def push(self, queue, pushes, single=False):
        self._go_on(super().push, queue, pushes, single)

    def cancel(self, queue, keys):
        return self._go_on(super().cancel, queue, keys)

    def reschedule(self, reschedules):
        self._go_on(super().reschedule, reschedules)

    def claim(self, queues, max_, lease, wait=0):
        return self._go_on(super().claim, queues, max_, lease, wait)

    def settle(self, settles):
        self._go_on(super().settle, settles)

    def extend(self, extends):
        self._go_on(super().extend, extends)


class Cramped(Tolerant):
    """For a store that is full: requests that end messages are never refused."""

    codes = frozenset((NO_SPACE,))
    said = "no space"

    def _check(self, code, text, operation):
        if self.said not in text:
            raise WrongAnswer(f"no clear refusal: {operation} {text}")
        if type(operation).__name__ == "Cancel" or getattr(operation, "action", "") == "ack":
            raise WrongAnswer(f"refused for want of room, though it ends a message: {operation} "
                              f"{text}")


class ResignedCramped(Resigned, Cramped):
    pass
