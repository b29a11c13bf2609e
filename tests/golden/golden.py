"""The contents of a store, as its server shows them: every queue, setting, counter and message."""

import http.client
import json
import sys
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))


class Api:
    """The HTTP interface of a server. Every error is raised, even that of a single item."""

    def __init__(self, port):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, path, body=None):
        self._connection.request(method, path, None if body is None else json.dumps(body),
                                 {} if body is None else {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        failed = [item for item in answer.get("results", []) if "error" in item]
        if response.status >= 300 or failed:
            raise AssertionError(f"{method} {path} {body}: {failed or answer}")
        return answer

    def post(self, path, body):
        return self.ask("POST", path, body)

    def advance(self, ms):
        """Only for a server with --test-clock."""
        self.post("/v1/clock/advance", {"by_ms": ms})

    def close(self):
        self._connection.close()


def _key_of(message):
    return {"base64": message["key_base64"]} if "key_base64" in message else message["key"]


def _messages(api, path):
    listed, after = [], ""
    while True:
        answer = api.ask("GET", f"{path}/messages?limit=1000{after}")
        listed += answer["messages"]
        if not answer.get("next"):
            break
        after = "&after=" + quote(answer["next"])
    if not listed:
        return {}
    keys = [_key_of(message) for message in listed]
    found = api.post(f"{path}/get", {"keys": keys})["results"]
    for message in found:
        message.pop("holder", None)  # the server knows the holder, the store does not
    return {message["id"]: message for message in sorted(found, key=lambda m: int(m["id"]))}


def state_of(api):
    """{queue: {"info": ..., "messages": {id: ...}}}"""
    state = {}
    for name in sorted(queue["queue"] for queue in api.ask("GET", "/v1/queues")["queues"]):
        path = "/v1/queues/" + quote(name, safe="")
        state[name] = {"info": api.ask("GET", path), "messages": _messages(api, path)}
    return state
