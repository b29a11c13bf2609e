"""Requests to a server and its answers: how they are sent, recorded and compared.

What a server chooses itself (receipts, generated keys, ids, pages' ends) differs each time. A
replay maps each such text of the recording to the one that it got, also in later requests.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))

# A server's own choice.
CHOSEN = {"receipt", "id", "next", "key"}
# Words for people, and what each version has its own way to measure: they must be there.
FREE = {"detail", "message", "description", "version", "live_bytes"}


def _outline(document):
    """Of an OpenAPI document: the operation of each route, and the fields of each schema."""
    methods = ("get", "put", "post", "delete")
    return {"routes": {path: {method: operations[method]["operationId"] for method in methods
                              if method in operations}
                       for path, operations in document["paths"].items()},
            "fields": {name: {field: {} for field in sorted(schema.get("properties", {}))}
                       for name, schema in document["components"]["schemas"].items()}}


def _metrics(text):
    return {name: {} for name in sorted(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))}


def send(connection, request):
    """The answer of a server to a recorded request."""
    headers = dict(request["headers"])
    body = request["body"]
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request(request["method"], request["path"],
                       None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read().decode()
    if request["path"] == "/metrics":
        body = _metrics(text)
    else:
        body = json.loads(text)
        if request["path"] == "/v1/openapi.json":
            body = _outline(body)
    return {"status": response.status, "body": body,
            "type": response.headers["Content-Type"].partition(";")[0]}


def routes_not_asked(routes, exchanges):
    """The routes of an outline that no exchange is a request of."""
    asked = {(e["request"]["method"].lower(), e["request"]["path"].partition("?")[0])
             for e in exchanges}
    return [(method, route) for route, methods in routes.items() for method in methods
            if not any(method == used and
                       re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), path)
                       for used, path in asked)]


class Replay:
    """Sends recorded requests to another server. `differences` has what an answer lacks."""

    def __init__(self, connection):
        self._connection = connection
        self._now = {}  # a text that the recorded server chose -> what this server chose
        self.differences = []

    def _translated(self, value):
        if isinstance(value, dict):
            return {name: self._translated(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._translated(inner) for inner in value]
        return self._now.get(value, value) if isinstance(value, str) else value

    def _keep(self, value):
        """What the recorded client chose stays as it is."""
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, str):
                self._now.setdefault(inner, inner)
            elif isinstance(inner, (dict, list)):
                self._keep(inner)

    def run(self, exchange):
        self._keep(exchange["request"])
        request = self._translated(exchange["request"])
        path, mark, after = request["path"].rpartition("after=")
        if mark:
            request["path"] = path + mark + self._now.get(after, after)
        answer = send(self._connection, request)
        self._compare(exchange["answer"], answer, f"{request['method']} {request['path']}")

    def _compare(self, recorded, found, where):
        if isinstance(recorded, dict) and isinstance(found, dict):
            for name, value in recorded.items():
                if name not in found:
                    self.differences.append(f"{where}.{name} is missing")
                elif name in FREE and isinstance(found[name], type(value)):
                    continue
                elif name in CHOSEN and isinstance(value, str) and isinstance(found[name], str):
                    self._choose(value, found[name], f"{where}.{name}")
                else:
                    self._compare(value, found[name], f"{where}.{name}")
        elif isinstance(recorded, list) and isinstance(found, list):
            if len(recorded) != len(found):
                self.differences.append(f"{where}: {len(recorded)} items, now {len(found)}")
            for index, (old, new) in enumerate(zip(recorded, found)):
                self._compare(old, new, f"{where}[{index}]")
        elif recorded != found:
            self.differences.append(f"{where}: {recorded!r}, now {found!r}")

    def _choose(self, recorded, found, where):
        """The same text must stand for the same thing each time."""
        if self._now.setdefault(recorded, found) != found:
            self.differences.append(f"{where}: {self._now[recorded]!r} before, now {found!r}")
