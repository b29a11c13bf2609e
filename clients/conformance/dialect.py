"""What the runner and a driver say: requests as the driver's language reads them best, and its
answers as the table has them. README.md describes both."""

import base64
import re
from datetime import datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
TIMES = {"due", "due_from", "due_to", "until", "start", "end", "from"}
# The name that the table gives to an answer that is no object.
ANSWERS = {"claim": "messages", "claim_keys": "messages", "list_all": "messages",
           "queues": "queues", "schedules": "schedules", "occurrences": "occurrences",
           "revive": "count", "revive_all": "count", "purge": "count", "remove": "count",
           "pause": "paused", "resume": "paused", "put_schedule": "outcome",
           "run_schedule": "key", "advance": "advanced_ms"}
ERRORS = {"detail": "message", "next_step": "next"}
LISTS = {"messages", "queues", "schedules", "occurrences"}


def camel(name):
    return re.sub("_(.)", lambda part: part[1].upper(), name)


def snake(name):
    return re.sub("[A-Z]", lambda part: "_" + part[0].lower(), name)


def rfc3339(ms):
    return (EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")


def coded(value):
    """Base64 of a text; bytes are Base64 as they come."""
    return value["base64"] if isinstance(value, dict) else base64.b64encode(value.encode()).decode()


NAMES = {"snake": str, "camel": camel}
DURATIONS = {"ms": int, "ns": lambda ms: ms * 1000000, "object": lambda ms: {"ms": ms}}
MOMENTS = {"ms": int, "rfc3339": rfc3339, "object": lambda ms: {"at_ms": ms}}
BYTES = {"base64": coded, "object": lambda value: value}


class Dialect:
    """How a driver wants names, durations and times, as its greeting says."""

    def __init__(self, greeting):
        self._name = NAMES[greeting["names"]]
        self._duration = DURATIONS[greeting["durations"]]
        self._moment = MOMENTS[greeting["times"]]
        self._bytes = BYTES[greeting.get("bytes", "object")]

    def request(self, op, fields):
        """The request of a step."""
        fields = {name: value for name, value in fields.items() if value is not None}
        for name in ("message", "item"):
            fields.update(fields.pop(name, {}))
        if "messages" in fields:
            fields["items"] = fields.pop("messages")
        if "items" in fields or ("keys" in fields and op in ("get", "cancel")):
            op += "_many"
        if op == "claim" and "keys" in fields:
            op = "claim_keys"
            fields["queue"], = fields.pop("queues")
        if fields.pop("all", False):
            op += "_all"
        return {"op": self._name(op), **self._fields(fields)}

    def _fields(self, fields):
        return dict(self._field(*field) for field in fields.items())

    def _field(self, name, value):
        if name == "items":
            return name, [self._fields(one) for one in value]
        if name.endswith("_base64"):
            name, value = name[:-7], {"base64": value}
        if name in ("key", "payload"):
            value = self._bytes(value)
        if name.endswith("_ms"):
            name = name[:-3]
            value = (self._moment if name in TIMES else self._duration)(value)
        return self._name(name), value


def answer(asked, fields, said):
    """The answer to a step, as the table has it. `asked`: the request's op."""
    if said.get("error"):
        return {"error": plain(said)["error"]}
    value, op = said.get("ok"), snake(asked)
    value = done(op, fields) if value is None else plain(value)
    if op in ANSWERS and not isinstance(value, dict):
        value = {ANSWERS[op]: value}
    return {"ok": value}


def done(op, fields):
    """What a call has done that answers nothing."""
    if op.endswith("_many") or ANSWERS.get(op) in LISTS:
        return []
    return {"pause": True, "resume": False, "advance": fields.get("by_ms")}.get(op, {})


def plain(value):
    """A value of a library under the names of the HTTP interface."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"ms"}:
        return value["ms"]
    said = dict(value.get("raw") or {})
    for name, one in value.items():
        name = snake(name)
        if isinstance(one, dict) and one.keys() == {"ms"}:
            name += "_ms"
        one = bytes_of(one)
        if isinstance(one, bytes):
            said[name + "_base64"] = base64.b64encode(one).decode()
        elif name != "raw":
            said[name] = one if name == "headers" else plain(one)
    if said.get("settled_how"):
        said["settlement"] = {"how": said["settled_how"]}
    if isinstance(said.get("error"), dict):
        said["error"] = {ERRORS.get(name, name): one for name, one in said["error"].items()}
    return said


def bytes_of(value):
    """Bytes for {"base64": ...} and for a text with surrogates of such bytes; text if the bytes are
    UTF-8; any other value as it is."""
    if isinstance(value, dict) and value.keys() == {"base64"}:
        value = base64.b64decode(value["base64"]).decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape")
    return value
