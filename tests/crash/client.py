"""One client: one connection, one request at a time, every request and answer in the history."""

import base64
import http.client
import json

from history import (TOKEN, Cancel, Claim, Delivery, Extend, Item, Push, Reschedule, Revive, Settle,
                     Snapshot, Tallies, now_ms)

MAX_BATCH = 10_000  # items of one request: docs/reference/limits.md
TIMEOUT_SECONDS = 60  # a limit for waits that are long only after a failure


class Lost(Exception):
    """There is no answer, because the server was killed or is being killed; or the client must ask
    no more."""


class WrongAnswer(Exception):
    """An answer that a correct client never gets."""


def as_json(data, name):
    """The field with that name, or with _base64 appended to the name."""
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {name + "_base64": base64.b64encode(data).decode()}


def from_json(fields, name):
    """The bytes of a field that may have been sent as _base64."""
    if name in fields:
        return fields[name].encode("utf-8")
    return base64.b64decode(fields.get(name + "_base64", ""))


def headers_from_json(message):
    """Headers as (name, bytes), in order. If `headers` cannot express them, there is a
    `header_list` too."""
    listed = message.get("header_list")
    if listed is None:
        return tuple((name, value.encode()) for name, value in message["headers"].items())
    return tuple((item["name"], from_json(item, "value")) for item in listed)


def token_of(headers):
    """The number of the push that made the message; a header contains it."""
    values = [value for name, value in headers if name == TOKEN]
    return int(values[0]) if len(values) == 1 and values[0].isdigit() else None


def when(operation):
    return {"delay_ms": operation.delay} if operation.due is None else {"due_ms": operation.due}


class Client:
    def __init__(self, server, history):
        self.server = server
        self.history = history
        # Called after each request that was sent, and after each answer.
        self.on_event = lambda: None
        self.ending = False  # if set, the client asks nothing more
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port,
                                                      timeout=TIMEOUT_SECONDS)

    def close(self):
        self._connection.close()

    def connect(self):
        """Raises Lost if nobody listens; then nothing was sent."""
        if self._connection.sock is None:
            try:
                self._connection.connect()
            except OSError as error:
                self._lost(error)

    def _lost(self, error):
        self._connection.close()
        if not self.server.dying:
            raise WrongAnswer(f"the connection broke, and nobody killed the server: {error!r}")
        raise Lost from error

    def _send(self, operations, method, path, body=None):
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8")
        if self.ending:
            raise Lost
        self.connect()
        sent = now_ms()
        for operation in operations:
            operation.sent = sent
            operation.asked_of = self.server
            self.history.add(operation)  # only an operation that was sent may have been done
        try:
            self._connection.request(method, path, data,
                                     {} if data is None else {"Content-Type": "application/json"})
        except OSError as error:
            self._lost(error)
        self.on_event()

    def _ask(self, operations, method, path, body=None, statuses=(200,)):
        """Notes when the operations were sent and answered. Returns the answer's JSON."""
        self._send(operations, method, path, body)
        try:
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._lost(error)
        ended = now_ms()
        if response.status not in statuses:
            self._refused(operations, response.status, text, ended)
            raise WrongAnswer(f"{method} {path} {str(body)[:500]}: {response.status} {text[:500]}")
        for operation in operations:
            operation.ended = ended
            operation.known = True
        self.on_event()
        return json.loads(text)

    def _refused(self, operations, status, text, ended):
        """May raise an error that fits better than WrongAnswer."""

    def _refused_item(self, operation, error):
        raise WrongAnswer(f"{operation}: {error}")

    def _results(self, answer, operations):
        results = answer["results"]
        if len(results) != len(operations):
            raise WrongAnswer(f"{len(results)} results for {len(operations)} items")
        for result, operation in zip(results, operations):
            if "error" in result:
                self._refused_item(operation, result["error"])
                continue
            operation.outcome = result["outcome"]
            if "due_ms" in result:
                operation.due_ms = result["due_ms"]
        return results

    # -- the verbs

    def push(self, queue, pushes: list[Push], single=False):
        messages = []
        for push in pushes:
            message = as_json(push.payload, "payload") | when(push)
            message["headers"] = {
                name: as_json(value, "x").get("x", {"base64": base64.b64encode(value).decode()})
                for name, value in push.headers}
            if push.key:
                message["key"] = push.key
            if push.priority != 1024:
                message["priority"] = push.priority
            if push.rule != "reject":
                message["if_exists"] = push.rule
            messages.append(message)
        path = f"/v1/queues/{queue}/messages"
        if single:
            results = [self._ask(pushes, "POST", path, messages[0], (200, 409))]
            pushes[0].outcome = results[0]["outcome"]
            pushes[0].due_ms = results[0].get("due_ms")
        else:
            results = self._results(self._ask(pushes, "POST", path, {"messages": messages}), pushes)
        for result, push in zip(results, pushes):
            if "id" in result:
                push.id = int(result["id"])
            push.generated_key = result.get("key")

    def cancel(self, queue, keys):
        cancels = [Cancel(0, queue=queue, key=key) for key in keys]
        self._results(self._ask(cancels, "POST", f"/v1/queues/{queue}/cancel",
                                {"keys": [cancel.key for cancel in cancels]}), cancels)
        return cancels

    def reschedule(self, reschedules: list[Reschedule]):
        path = f"/v1/queues/{reschedules[0].queue}/reschedule"
        for at in range(0, len(reschedules), MAX_BATCH):
            batch = reschedules[at:at + MAX_BATCH]
            items = [{"key": r.key} | when(r) for r in batch]
            self._results(self._ask(batch, "POST", path, {"items": items}), batch)

    def claim(self, queues, max_, lease, wait=0):
        claim = Claim(0, queues=tuple(queues), max=max_, lease=lease)
        answer = self._ask([claim], "POST", "/v1/claim", self._claim_body(claim, wait))
        claim.deliveries = [self._delivery(claim, message) for message in answer["messages"]]
        return claim.deliveries

    def claim_and_hang_up(self, queues, max_, lease, wait):
        """Sends a claim, and does not read its answer."""
        claim = Claim(0, queues=tuple(queues), max=max_, lease=lease, hung_up=True)
        self._send([claim], "POST", "/v1/claim", self._claim_body(claim, wait))
        self._connection.close()

    @staticmethod
    def _claim_body(claim, wait):
        return {"queues": claim.queues, "max": claim.max, "lease_ms": claim.lease, "wait_ms": wait}

    @staticmethod
    def _delivery(claim, message):
        headers = headers_from_json(message)
        return Delivery(message["queue"], message["key"], int(message["id"]), token_of(headers),
                        from_json(message, "payload"), headers, message["receipt"],
                        message["due_ms"], message["claimed_ms"], message["lease_ms"],
                        message["attempt"], message["priority"], Tallies(**message["tallies"]),
                        claim)

    def settle(self, settles: list[Settle]):
        items = []
        for settle in settles:
            item = {"receipt": settle.receipt, "action": settle.action}
            if settle.action == "retry":
                item["delay_ms"] = settle.delay
            items.append(item)
        self._results(self._ask(settles, "POST", "/v1/settle", {"items": items}), settles)

    def extend(self, extends: list[Extend]):
        items = [{"receipt": e.receipt, "lease_ms": e.lease} for e in extends]
        self._results(self._ask(extends, "POST", "/v1/extend", {"items": items}), extends)

    def revive_all(self, queue):
        revive = Revive(0, queue=queue)
        revive.count = self._ask([revive], "POST", f"/v1/queues/{queue}/revive",
                                 {"all": True})["count"]
        return revive.count

    # -- reading, and setting up a test

    def ask(self, method, path, body=None):
        """A request that the history need not contain."""
        return self._ask([], method, path, body)

    def configure(self, queue, settings):
        self._ask([], "PUT", f"/v1/queues/{queue}", settings)

    def figures(self):
        """The figures of each queue, by its name."""
        return {queue["queue"]: queue for queue in self._ask([], "GET", "/v1/stats")["queues"]}

    def pages(self, queue, limit=2000):
        """Every message of the queue, from its list."""
        after = ""
        while True:
            tail = f"&after={after}" if after else ""
            page = self._ask([], "GET", f"/v1/queues/{queue}/messages?limit={limit}{tail}")
            yield from page["messages"]
            after = page["next"]
            if not after:
                return

    def snapshot(self, why, final=False):
        """Everything in the store. Use it only while no other client asks."""
        while True:
            snapshot = self._snapshot(why, final)
            if self.history.lists_miss_nothing or self._still(snapshot):
                self.history.snapshots.append(snapshot)
                return snapshot

    @staticmethod
    def _still(snapshot):
        """Whether no lease ran out meanwhile, and nothing else was done."""
        return all(snapshot.before.get(queue, {}).get("counters") == figures["counters"]
                   for queue, figures in snapshot.after.items())

    def _snapshot(self, why, final):
        snapshot = Snapshot(now_ms(), why=why, final=final, known=True)
        snapshot.before = self.figures()
        for queue in self.history.queues:
            if queue in snapshot.before:
                snapshot.items.extend(self._item(message) for message in self.pages(queue))
        snapshot.after = self.figures()
        snapshot.ended = now_ms()
        return snapshot

    @staticmethod
    def _item(message):
        headers = headers_from_json(message)
        return Item(message["queue"], message["key"], int(message["id"]), token_of(headers),
                    headers, message["state"], message.get("stopping", False), message["due_ms"],
                    message["attempt"], message["priority"], Tallies(**message["tallies"]),
                    message.get("settlement", {}).get("how"))
