#!/usr/bin/env python3
"""The driver of the conformance table for the Python client: clients/conformance/README.md."""

import base64
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import tarry  # noqa: E402
from tarry import verbs  # noqa: E402
from tarry.moments import datetime_of  # noqa: E402

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


def given(fields, *names):
    return {name: fields[name] for name in names if name in fields}


def message_of(fields):
    return tarry.Message(raw(fields, "payload") or b"", raw(fields, "key"), **times(fields),
                         **given(fields, "headers", "priority", "if_exists", "max_attempts"))


def failure(error):
    return {"code": error.code, "next": error.next_step, "status": error.status,
            "message": error.message}


def shown(value):
    """A value of the library as the protocol writes it."""
    if isinstance(value, tarry.TarryError):
        return {"error": failure(value)}
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    if isinstance(value, dict) or not hasattr(value, "__dataclass_fields__"):
        return value
    said = {name: getattr(value, name) for name in value.__dataclass_fields__ if name != "raw"}
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


class Driver:
    def __init__(self):
        self.client = self.worker = self.thread = None
        self.gates = {}
        self.lock = threading.Lock()

    def open(self, f):
        self.client = tarry.Client(f["url"], token=f.get("token"), ca=f.get("ca"),
                                   cert=f.get("cert"), key=f.get("key"),
                                   patience=f["patience_ms"] / 1000,
                                   timeout=f["timeout_ms"] / 1000)
        return {}

    def close(self, _):
        self.client.close()
        return {}

    def carry_out(self, f):
        """The answer to a request."""
        op = f.pop("op")
        try:
            if op in ("open", "close", "work", "let_go", "begin_stop", "stop_work", "together"):
                return {"ok": getattr(self, op)(f)}
            if op in VERBS:
                queue = self.client.queue(f["queue"]) if "queue" in f else None
                is_batch = any(many in f for many in ("messages", "keys", "items"))
                verb = VERBS[op] if is_batch else SINGLE.get(op, VERBS[op])
                return {"ok": shown(verb(self.client, queue, f))}
            return {"error": {"code": "no_such_op"}}
        except tarry.TarryError as error:
            return {"error": failure(error)}

    def together(self, f):
        with ThreadPoolExecutor(len(f["calls"])) as pool:
            return list(pool.map(self.carry_out, f["calls"]))

    # -- the worker

    def work(self, f):
        options = given(f, "concurrency", "prefetch")
        if "lease_ms" in f:
            options["lease"] = millis(f["lease_ms"])
        if "drain_ms" in f:
            options["drain"] = f["drain_ms"] / 1000
        self.worker = tarry.Worker(self.client, {queue: self.handle for queue in f["queues"]},
                                   **options)
        self.thread = threading.Thread(target=self.worker.run)
        self.thread.start()
        return {}

    def gate(self, key):
        with self.lock:
            return self.gates.setdefault(key, threading.Event())

    def handle(self, delivery):
        about = {"queue": delivery.queue, "key": delivery.key,
                 "receipt": delivery.message.receipt}
        say({"event": "begun", "attempt": delivery.attempt, **about})
        try:
            return self.do(delivery)
        finally:
            say({"event": "ended", **about})

    def do(self, delivery, held=False):
        word, _, rest = delivery.text.partition(" ")
        if word == "hold" and not held:
            def tell():
                delivery.stop.wait()
                say({"event": "signalled", "key": delivery.key})
            threading.Thread(target=tell, daemon=True).start()
            self.gate(delivery.key).wait()
        if word == "throw":
            raise ValueError(rest)
        return {"retry": lambda: tarry.retry(millis(int(rest)) if rest else None),
                "release": tarry.release, "bury": lambda: tarry.bury(rest)}.get(word, tarry.ack)()

    def let_go(self, f):
        self.gate(f["key"]).set()
        return {}

    def begin_stop(self, _):
        self.worker.stop()
        return {}

    def stop_work(self, _):
        self.worker.stop()
        self.thread.join()
        return shown(self.worker.counts)


def settle_body(f):
    return verbs.settle_body(f["receipt"], f["action"], millis(f.get("delay_ms")),
                             f.get("reason"), f.get("priority"))


def claim(c, f):
    options = {"lease": millis(f.get("lease_ms")), "wait": millis(f.get("wait_ms")),
               **given(f, "max", "max_bytes")}
    if "keys" in f:
        return c.queue(f["queues"][0]).claim(**options, **given(f, "keys", "any_state"))
    return c.claim(f["queues"], **options)


SINGLE = {
    "push": lambda c, q, f: q.push_message(message_of(f["message"])),
    "get": lambda c, q, f: q.get(raw(f, "key")),
    "cancel": lambda c, q, f: q.cancel(raw(f, "key")),
    "reschedule": lambda c, q, f: q.reschedule(f["item"]["key"], **times(f["item"]),
                                               **given(f["item"], "priority")),
    "settle": lambda c, q, f: c.settle(
        f["item"]["receipt"], f["item"]["action"], delay=millis(f["item"].get("delay_ms")),
        **given(f["item"], "reason", "priority")),
    "extend": lambda c, q, f: c.extend(f["item"]["receipt"], millis(f["item"].get("lease_ms"))),
}
VERBS = {
    "push": lambda c, q, f: q.push_many([message_of(one) for one in f["messages"]]),
    "get": lambda c, q, f: q.get_many(f["keys"]),
    "cancel": lambda c, q, f: q.cancel_many(f["keys"]),
    "reschedule": lambda c, q, f: q.reschedule_many(
        [q.moved(one["key"], **times(one), **given(one, "priority")) for one in f["items"]]),
    "settle": lambda c, q, f: c.settle_many([settle_body(one) for one in f["items"]]),
    "extend": lambda c, q, f: c.extend_many([one["receipt"] for one in f["items"]],
                                            millis(f["items"][0].get("lease_ms"))),
    "claim": lambda c, q, f: {"messages": shown(claim(c, f))},
    "list": lambda c, q, f: q.list_page(**given(f, "state", "prefix", "limit", "after")),
    "list_all": lambda c, q, f: {
        "messages": shown(list(q.list(**given(f, "state", "prefix", "limit"))))},
    "revive": lambda c, q, f: {"count": q.revive(f.get("keys"))},
    "bulk": lambda c, q, f: q.bulk(
        f["action"], by=millis(f.get("by_ms")), **given(f, "prefix", "state", "headers", "reason",
                                                        "dry_run"),
        **{name: datetime_of(f[name + "_ms"]) for name in ("due_from", "due_to", "due")
           if name + "_ms" in f}),
    "configure": lambda c, q, f: q.configure(**{
        name.replace("_ms", ""): millis(value) if name.endswith("_ms") else value
        for name, value in f.items() if name != "queue"}),
    "queue": lambda c, q, f: q.info(),
    "why": lambda c, q, f: q.why(raw(f, "key")),
    "queues": lambda c, q, f: {"queues": shown(c.queues())},
    "stats": lambda c, q, f: c.stats(f.get("queue")),
    "forecast": lambda c, q, f: q.forecast(millis(f.get("width_ms")), f.get("buckets")),
    "pause": lambda c, q, f: {"paused": q.pause(
        datetime_of(f["until_ms"]) if "until_ms" in f else None)},
    "resume": lambda c, q, f: {"paused": q.resume()},
    "purge": lambda c, q, f: {"count": q.purge()},
    "remove": lambda c, q, f: {"count": q.remove(f.get("force", False))},
    "advance": lambda c, q, f: {"advanced_ms": c.advance(millis(f["by_ms"]))},
    "health": lambda c, q, f: c.health(),
}


def main():
    driver = Driver()
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("id")
        say({"id": number, **driver.carry_out(request)})


if __name__ == "__main__":
    main()
