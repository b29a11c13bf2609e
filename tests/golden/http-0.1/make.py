#!/usr/bin/env python3
"""make.py PROGRAM: writes recorded.json beside this script: what that tarry answers to requests of
every route, in order, under a test clock. PROGRAM must be of version 0.1."""

import base64
import http.client
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ["TARRY_PROGRAM"] = str(Path(sys.argv[1]).resolve()) if len(sys.argv) == 2 else ""
sys.path.insert(0, str(HERE.parent))

import recording  # noqa: E402  (the path is set above)
from program import Server  # noqa: E402

HOUR = 3600 * 1000
FAR = 3786912000000  # 2090-01-01
BINARY = base64.b64encode(bytes(range(256))).decode()


class Recorder:
    """Asks a server, and keeps each request with its answer."""

    def __init__(self, port):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.exchanges = []

    def ask(self, method, path, body=None, **headers):
        request = {"method": method, "path": path, "headers": headers, "body": body}
        answer = recording.send(self._connection, request)
        self.exchanges.append({"request": request, "answer": answer})
        return answer["body"]

    def post(self, path, body=None, **headers):
        return self.ask("POST", path, body, **headers)

    def claim(self, queue="orders", **fields):
        """Claims, and returns the receipts."""
        answer = self.post("/v1/claim", {"queues": [queue], **fields})
        return [message["receipt"] for message in answer["messages"]]

    def settle(self, *items):
        self.post("/v1/settle", {"items": list(items)})


def pushes(server):
    path = "/v1/queues/orders/messages"
    server.ask("PUT", "/v1/queues/orders", {"remember": "30d", "max_attempts": 3, "lease": "1m"})
    server.post(path, {"key": "order:1", "payload": "a lamp", "due_ms": FAR,
                       "headers": {"shop": "e1", "n": "2"}})
    server.post(path, {"key": "order:1", "delay": "1h"})
    server.post(path, {"payload": "no key", "delay": 500, "priority": 3})
    server.post(path, {"key": "order:2", "payload_base64": BINARY, "delay": "1h",
                       "headers": {"value": {"base64": "/wD+"}}})
    server.post(path, {"key_base64": base64.b64encode(b"key \xff\0").decode(), "due_ms": FAR})
    server.post(path, {"messages": [
        {"key": "order:3", "payload": "in a batch", "due": "2030-01-31T09:00:00+01:00"},
        {"key": "order:1", "delay": "1h", "if_exists": "keep"},
        {"key": "order:1", "delay": "1h", "if_exists": "earlier"},
        {"key": "order:1", "payload": "two lamps", "delay": "2h", "if_exists": "replace"},
        {"key": "order:2", "delay": "1h", "if_exists": "reject"},
        {"key": "wrong", "delay": "-1h"},
        {"key": "once", "payload": "now", "delay": 0, "max_attempts": 1}]})
    server.post("/v1/queues/orders/push", {"messages": [
        {"key": f"bulk:{number}", "payload": "x", "delay": "3h"} for number in (1, 2, 3)]})
    server.post("/v1/queues/traced/messages", {"key": "t", "payload": "x", "delay": "1h"},
                traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")


def reads(server):
    path = "/v1/queues/orders"
    server.ask("GET", f"{path}/message?key=order:1")
    server.ask("GET", f"{path}/message?key=nobody")
    server.post(f"{path}/get", {"keys": ["order:2", "nobody", {"base64": "a2V5IP8A"}]})
    page = server.ask("GET", f"{path}/messages?limit=3")
    server.ask("GET", f"{path}/messages?limit=100&after={page['next']}")
    server.ask("GET", f"{path}/messages?state=scheduled&prefix=order:&whole=true")
    server.ask("GET", path)
    server.ask("GET", "/v1/queues/nobody")
    server.ask("GET", "/v1/queues")
    server.ask("GET", "/v1/stats")
    server.ask("GET", "/v1/stats?queue=orders")
    server.ask("GET", f"{path}/forecast?width=1h&buckets=4")
    server.ask("GET", f"{path}/forecast?width_ms=60000&buckets=2")


def moves(server):
    path = "/v1/queues/orders"
    server.post(f"{path}/reschedule", {"items": [
        {"key": "order:3", "delay": "10m"}, {"key": "nobody", "delay": 0},
        {"key": "bulk:1", "due_ms": FAR, "priority": 9}]})
    server.post(f"{path}/cancel", {"keys": ["bulk:3", "nobody"]})
    server.post(f"{path}/cancel", {"keys": ["bulk:3"]})
    for dry_run in (True, False):
        server.post(f"{path}/bulk", {"action": "cancel", "prefix": "bulk:", "dry_run": dry_run})
    server.post(f"{path}/bulk", {"action": "reschedule", "due_from": "2020-01-01T00:00:00Z",
                                 "due_to": "2020-01-01T06:00:00Z", "by": "6h",
                                 "headers": {"value": {"base64": "/wD+"}}})


def claims(server):
    server.post("/v1/clock/advance", {"by": "1s"})
    server.post("/v1/claim", {"queues": ["empty"], "max": 5})
    leased = server.claim(max=1, lease="2m")  # priority 3: no key
    server.post("/v1/extend", {"items": [{"receipt": leased[0], "lease": "3m"},
                                         {"receipt": "1.0.5.c0ffee", "lease_ms": 1000}]})
    server.settle({"receipt": leased[0], "action": "retry", "delay": "5s"},
                  {"receipt": "1.0.5.c0ffee", "action": "ack"})
    server.settle({"receipt": leased[0], "action": "ack"})  # stale
    once = server.claim(max=10)
    server.settle({"receipt": once[0], "action": "bury", "reason": "no such order"})
    server.ask("GET", "/v1/queues/orders/message?key=once")
    server.ask("GET", "/v1/queues/orders/messages?state=dead")
    server.post("/v1/queues/orders/revive", {"keys": ["once"]})
    server.post("/v1/queues/orders/revive", {"all": True})
    once = server.claim(keys=["once"])
    server.post("/v1/queues/orders/cancel", {"keys": ["once"]})  # stopping
    server.post("/v1/queues/orders/reschedule", {"items": [{"key": "once", "delay": 0}]})
    server.settle({"receipt": once[0], "action": "release"})
    server.ask("GET", "/v1/queues/orders/message?key=once")
    server.post("/v1/clock/advance", {"by_ms": HOUR})
    acked = server.claim(max=100, max_bytes=1048576)
    server.settle(*[{"receipt": receipt, "action": "ack"} for receipt in acked])
    server.settle({"receipt": acked[0], "action": "ack"})  # again
    server.post("/v1/queues/orders/messages", {"key": "order:3", "delay": 0})  # settled
    server.post("/v1/claim", {"queues": ["traced", "orders"], "max": 3, "lease_ms": 1000})
    server.post("/v1/clock/suspend", {"by": "2s"})  # that lease runs out
    server.post("/v1/clock/step", {"by": "-1s"})
    server.ask("GET", "/v1/queues/traced/message?key=t")


def queues(server):
    server.post("/v1/queues/orders/pause", {"until": "2020-01-02T00:00:00Z"})
    server.post("/v1/claim", {"queues": ["orders"]})
    server.post("/v1/queues/orders/resume")
    server.post("/v1/queues/traced/pause", {})
    server.ask("GET", "/v1/queues/traced")
    server.post("/v1/queues/moved/import", {"messages": [
        {"key": "m", "payload": "moved", "due_ms": FAR, "attempt": 2,
         "tallies": {"claims": 3, "releases": 1}},
        {"key": "d", "due_ms": FAR, "state": "dead", "reason": "no such card"},
        {"key": "m", "due_ms": FAR, "if_exists": "keep"}]})
    found = server.post("/v1/queues/moved/get", {"keys": ["m", "d"]})["results"]
    server.post("/v1/queues/moved/move-away", {"messages": [
        {field: message[field] for field in
         ("key", "id", "due_ms", "priority", "tallies", "state") if field in message}
        for message in found] + [{"key": "x", "id": "1", "due_ms": FAR, "priority": 1024,
                                  "tallies": {"claims": 0}}]})
    server.post("/v1/queues/orders/purge", {})
    server.post("/v1/queues/traced/reshard", {"shards": 4})
    server.ask("DELETE", "/v1/queues/traced")
    server.ask("DELETE", "/v1/queues/traced?force=true")
    server.ask("GET", "/v1/queues")


def refusals(server):
    path = "/v1/queues/orders/messages"
    server.post(path, {"key": "k", "delay": "soon"})
    server.post(path, {"key": "k", "delai": "1h"})
    server.post(path, {"key": "k", "due": 1234567})
    server.post(path, {"key": "k" * 600})
    server.post("/v1/queues/a%20b/messages", {"key": "k"})
    server.post("/v1/claim", {"queues": ["orders"], "max": 0})
    server.post("/v1/claim", {"queues": []})
    server.post("/v1/settle", {"items": [{"receipt": "x", "action": "forget"}]})
    server.ask("PUT", "/v1/queues/orders", {"lease": "0s"})
    server.ask("GET", path + "?limit=0")
    server.ask("GET", "/v1/nothing")
    server.ask("DELETE", "/v1/claim")


def service(server):
    for path in ("/", "/healthz", "/readyz", "/v1/openapi.json", "/metrics"):
        server.ask("GET", path)


def main():
    if not os.environ["TARRY_PROGRAM"]:
        sys.exit(__doc__)
    with Server("memory:?shards=1", "--test-clock") as server:
        recorder = Recorder(server.port)
        for part in (pushes, reads, moves, claims, queues, refusals, service):
            part(recorder)
    routes, = [exchange["answer"]["body"]["routes"] for exchange in recorder.exchanges
               if exchange["request"]["path"] == "/v1/openapi.json"]
    missing = recording.routes_not_asked(routes, recorder.exchanges)
    assert not missing, f"no request of {missing}"
    with open(HERE / "recorded.json", "w", encoding="utf-8") as file:
        json.dump(recorder.exchanges, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
