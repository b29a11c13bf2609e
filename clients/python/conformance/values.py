"""The protocol's values: fields of requests, and answers as they are written."""

import base64
import json
import sys
import threading
from datetime import datetime, timedelta

import tarry
from tarry.moments import datetime_of

writing = threading.Lock()


def say(line):
    with writing:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def raw(fields, name):
    """Bytes from NAME or NAME_base64, or None."""
    if name + "_base64" in fields:
        return base64.b64decode(fields[name + "_base64"])
    return fields.get(name)


def millis(value):
    return None if value is None else timedelta(milliseconds=value)


def times(fields):
    return {"delay": millis(fields.get("delay_ms")),
            "due": datetime_of(fields["due_ms"]) if "due_ms" in fields else None}


def moments(fields, *names):
    return {name: datetime_of(fields[name + "_ms"]) for name in names if name + "_ms" in fields}


def given(fields, *names):
    return {name: fields[name] for name in names if name in fields}


def failure(error):
    return {"code": error.code, "next": error.next_step, "status": error.status,
            "message": error.message}


def milliseconds(value):
    span = value if isinstance(value, timedelta) else value - datetime_of(0)
    return span // timedelta(milliseconds=1)


def shown(value):
    """A value of the library as the protocol writes it."""
    if isinstance(value, tarry.TarryError):
        return {"error": failure(value)}
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    if isinstance(value, dict) or not hasattr(value, "__dataclass_fields__"):
        return value
    said = {name: getattr(value, name) for name in value.__dataclass_fields__ if name != "raw"}
    for name, one in list(said.items()):
        if isinstance(one, (datetime, timedelta)):
            said[name + "_ms"] = milliseconds(said.pop(name))
    if isinstance(value, (tarry.Stored, tarry.QueueInfo)):
        said = {**value.raw, **said}
    if said.get("settled_how"):
        said["settlement"] = {"how": said["settled_how"]}
    for name in ("key", "payload"):
        one = said.get(name)
        plain = one.encode("utf-8", "surrogateescape") if isinstance(one, str) else one
        if isinstance(plain, bytes):
            try:
                said[name] = plain.decode()
            except UnicodeDecodeError:
                said[name + "_base64"] = base64.b64encode(plain).decode()
                del said[name]
    return {name: shown(one) for name, one in said.items()}
