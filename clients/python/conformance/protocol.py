"""What the drivers of the conformance table have in common: clients/conformance/README.md."""

import base64
import json
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import tarry  # noqa: E402
from tarry.moments import datetime_of  # noqa: E402
from tarry.verbs import settle_body  # noqa: E402

GREETING = {"names": "snake", "durations": "object", "times": "object"}
VALUES = {"ms": lambda ms: timedelta(milliseconds=ms), "at_ms": datetime_of,
          "base64": base64.b64decode}
# Verbs that have another name in the library, and what its batches take for the items of a request.
METHODS = {"queue": "info", "list": "list_page", "list_all": "list", "claim_keys": "claim",
           "revive_all": "revive"}
BATCHES = {
    "push_many": lambda _, items: [[tarry.Message(**one) for one in items]],
    "reschedule_many": lambda queue, items: [[queue.moved(**one) for one in items]],
    "settle_many": lambda _, items: [[settle_body(**one) for one in items]],
    "extend_many": lambda _, items: [[one["receipt"] for one in items], items[0].get("lease")],
}
writing = threading.Lock()


def read(line):
    """A request, with durations, times and bytes as Python has them."""
    def value_of(said):
        name = next(iter(said), None)
        return VALUES[name](said[name]) if name in VALUES and len(said) == 1 else said
    return json.loads(line, object_hook=value_of)


def plain(value):
    """A value of the library, for JSON."""
    if isinstance(value, tarry.TarryError):
        return {"error": {"code": value.code, "next": value.next_step, "status": value.status,
                          "message": value.message}}
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, (datetime, timedelta)):
        span = value - datetime_of(0) if isinstance(value, datetime) else value
        return {"ms": span // timedelta(milliseconds=1)}
    return vars(value)


def say(line):
    with writing:
        sys.stdout.write(json.dumps(line, default=plain) + "\n")
        sys.stdout.flush()


def verdict(text):
    """What the payload tells the handler to return or to raise."""
    word, _, rest = text.partition(" ")
    if word == "throw":
        raise ValueError(rest)
    if word == "retry":
        return tarry.retry(timedelta(milliseconds=int(rest)) if rest else None)
    return {"release": tarry.release, "bury": lambda: tarry.bury(rest)}.get(word, tarry.ack)()


class Driver:
    """A driver has a client, and a method for each op that is no verb of the client."""

    OWN = ("open", "close", "work", "let_go", "begin_stop", "stop_work")

    def __init__(self):
        self.client = self.worker = None
        self.gates = {}
        self.lock = threading.Lock()

    def carry_out(self, request):
        """The answer to a request."""
        op = request.pop("op")
        try:
            method = getattr(self, op) if op in self.OWN else self.verb(op, request)
            return {"ok": method(**request)} if method else {"error": {"code": "no_such_op"}}
        except tarry.TarryError as error:
            return plain(error)

    def verb(self, op, request):
        """The verb's method, with its arguments taken out of the request; None: there is none."""
        target = self.client
        if "queue" in request and op not in ("stats", "put_schedule"):
            target = target.queue(request.pop("queue"))
        method = getattr(target, METHODS.get(op, op), None)
        if "from" in request:
            request["from_"] = request.pop("from")
        arguments = BATCHES[op](target, request.pop("items")) if op in BATCHES else []
        return method and (lambda **options: self.wait(method(*arguments, **options)))

    def gate(self, key):
        """An event that the handler of the key waits for."""
        with self.lock:
            return self.gates.setdefault(key, threading.Event())

    def let_go(self, key):
        self.gate(key).set()

    def answer(self, line):
        request = read(line)
        say({"id": request.pop("id"), **self.carry_out(request)})

    def main(self):
        say(GREETING)
        for line in sys.stdin:
            threading.Thread(target=self.answer, args=[line], daemon=True).start()
