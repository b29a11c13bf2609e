#!/usr/bin/env python3
"""The driver of the conformance table for the Python client: clients/conformance/README.md."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import tarry  # noqa: E402
from tarry import verbs  # noqa: E402
from values import failure, given, millis, moments, raw, say, shown, times  # noqa: E402

def message_of(fields):
    return tarry.Message(raw(fields, "payload") or b"", raw(fields, "key"), **times(fields),
                         **given(fields, "headers", "priority", "if_exists", "max_attempts"))


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
        **moments(f, "due_from", "due_to", "due")),
    "configure": lambda c, q, f: q.configure(**{
        name.replace("_ms", ""): millis(value) if name.endswith("_ms") else value
        for name, value in f.items() if name != "queue"}),
    "queue": lambda c, q, f: q.info(),
    "why": lambda c, q, f: q.why(raw(f, "key")),
    "queues": lambda c, q, f: {"queues": shown(c.queues())},
    "stats": lambda c, q, f: c.stats(f.get("queue")),
    "forecast": lambda c, q, f: q.forecast(
        millis(f.get("width_ms")), f.get("buckets"), f.get("rate"), f.get("arrivals")),
    "pause": lambda c, q, f: {"paused": q.pause(*moments(f, "until").values())},
    "resume": lambda c, q, f: {"paused": q.resume()},
    "purge": lambda c, q, f: {"count": q.purge()},
    "remove": lambda c, q, f: {"count": q.remove(f.get("force", False))},
    "put_schedule": lambda c, q, f: {"outcome": c.put_schedule(
        f["name"], f["when"], f["queue"], raw(f, "payload") or b"",
        jitter=millis(f.get("jitter_ms")), **moments(f, "start", "end"),
        **given(f, "zone", "headers", "priority", "missed", "paused"))},
    "schedule": lambda c, q, f: c.schedule(f["name"]),
    "schedules": lambda c, q, f: {"schedules": shown(c.schedules(f.get("prefix")))},
    "pause_schedule": lambda c, q, f: c.pause_schedule(f["name"]) or {},
    "resume_schedule": lambda c, q, f: c.resume_schedule(f["name"]) or {},
    "run_schedule": lambda c, q, f: {"key": c.run_schedule(f["name"])},
    "remove_schedule": lambda c, q, f: c.remove_schedule(f["name"]) or {},
    "occurrences": lambda c, q, f: {"occurrences": shown(c.occurrences(
        f["when"], jitter=millis(f.get("jitter_ms")), from_=moments(f, "from").get("from"),
        **moments(f, "start", "end"), **given(f, "zone", "name", "count")))},
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
