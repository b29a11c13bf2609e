#!/usr/bin/env python3
"""Server and clients on two machines, which are network namespaces here, over TLS with tokens: what
passes between them, and certificates and tokens that change under load.

TARRY_NETWORK_SECONDS and TARRY_NETWORK_RATE (messages a second) make the load longer and heavier
than in CI."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest
from pathlib import Path

from authority import Authority
from namespaces import SERVER, Capture, Namespaces, enter
from program import PROGRAM, ProgramTest, Server, environment, eventually
from token_files import line_of, secret

SECONDS = float(os.environ.get("TARRY_NETWORK_SECONDS", "4"))
RATE = int(os.environ.get("TARRY_NETWORK_RATE", "5000"))
BATCH = max(250, RATE // 20)
PAYLOAD = "a-payload-in-clear"
QUEUE = "a-queue-in-clear"
JSON = {"Content-Type": "application/json"}


class Client(threading.Thread):
    """Pushes and settles its share of the load. A request that fails is in `failed`."""

    def __init__(self, load):
        super().__init__(daemon=True)
        self.token = load.token
        self.requests = self.messages = self.for_relay = self.connections = 0
        self.failed = []
        self._load = load
        self._connection = None

    def _ask(self, path, body):
        # New connections all the time, so that handshakes meet each certificate.
        if self.requests % 10 == 0 and self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(
                SERVER, self._load.port, timeout=60, context=self._load.context)
            self.connections += 1
        self.requests += 1
        self.token = self._load.token
        headers = JSON | {"Authorization": f"Bearer {self.token}"}
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise OSError(f"{path}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    def _life(self, number):
        queue = f"{QUEUE}.{self.name}"
        pushed = self._ask(f"/v1/queues/{queue}/push", {"messages": [
            {"payload": f"{PAYLOAD} {number}"}] * BATCH})["results"]
        claimed = self._ask("/v1/claim", {"queues": [queue], "max": BATCH,
                                          "wait": "10s"})["messages"]
        settled = self._ask("/v1/settle", {"items": [
            {"receipt": one["receipt"], "action": "ack"} for one in claimed]})["results"]
        if [{one["outcome"] for one in many} for many in (pushed, settled)] != [{"pushed"},
                                                                               {"done"}]:
            raise OSError(f"outcomes {pushed[:1]} {settled[:1]}")
        self.messages += len(settled)
        self._ask(f"/v1/queues/{QUEUE}.relay/messages", {"payload": PAYLOAD})
        self.for_relay += 1

    def run(self):
        enter(self._load.namespace)
        began = time.monotonic()
        number = 0
        while not self._load.done.is_set():
            number += 1
            try:
                self._life(number)
            except (OSError, http.client.HTTPException, KeyError) as error:
                self.failed.append(repr(error))
                self._connection = None
            ahead = began + number * BATCH / self._load.rate - time.monotonic()
            self._load.done.wait(max(0, ahead))
        if self._connection is not None:
            self._connection.close()


class Load:
    """Several clients, and the token that they send from their next request on."""

    def __init__(self, namespace, port, context, token, clients=4):
        self.namespace, self.port, self.context, self.token = namespace, port, context, token
        self.rate = RATE / clients
        self.done = threading.Event()
        self.clients = [Client(self) for _ in range(clients)]
        for client in self.clients:
            client.start()

    def switch(self, token):
        """Returns when all requests with the token before have been answered."""
        self.token = token
        for _ in range(2):  # the second request begins after the first, which may be an old one
            counts = [client.requests for client in self.clients]
            eventually(lambda: all(client.requests > count or not client.is_alive()
                                   for client, count in zip(self.clients, counts)),
                       "each client asks again")

    def stop(self):
        self.done.set()
        for client in self.clients:
            client.join()

    def sum(self, name):
        return sum(getattr(client, name) for client in self.clients)


class NetworkNamespaces(ProgramTest):
    def setUp(self):
        super().setUp()
        try:
            self.net = Namespaces()
        except OSError as why:
            self.skipTest(str(why))
        self.addCleanup(self.net.close)
        self.authority = Authority(self.directory / "pki")
        self.authority.issue("first")
        self.authority.issue("second")
        self.ca = self.authority.path("root")
        self.cert, self.key = (self.directory / name for name in ("cert.pem", "key.pem"))
        self.tokens = self.directory / "tokens"
        self.tokens.touch(mode=0o600)
        self.old, self.new = secret(), secret()
        self.put("first")
        self.let_in(self.old)

    def put(self, name):
        """That certificate is the server's from its next SIGHUP on."""
        shutil.copy(self.authority.chain(name), self.cert)
        shutil.copy(self.authority.key(name), self.key)
        self.key.chmod(0o600)

    def let_in(self, *tokens):
        self.tokens.write_text("".join(
            line_of("old" if token == self.old else "new", "read,push,consume,admin", "*",
                    token) + "\n" for token in tokens))

    def serve(self):
        server = Server(self.store, "--listen", f"{SERVER}:0", "--tls-cert", str(self.cert),
                        "--tls-key", str(self.key), "--tokens-file", str(self.tokens),
                        before=lambda: enter(self.net.server))
        self.addCleanup(server.stop)
        self.assertIn(f"https://{SERVER}:{server.port}", server.ready)
        self.assertNotIn("insecure", server.log())
        server.url = f"https://{SERVER}:{server.port}?ca={self.ca}"
        return server

    def reload(self, server, says):
        before = len(server.log())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: says in server.log()[before:], says)

    def there(self, *words, stdin="", token=None):
        """Runs a program on the client's machine; what it prints."""
        done = subprocess.run(
            words, input=stdin, capture_output=True, text=True, timeout=100, cwd=self.directory,
            env=environment(TARRY_TOKEN=token or self.old), check=False,
            preexec_fn=lambda: enter(self.net.client))
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def watch(self, *words):
        capture = Capture(self.net, [PAYLOAD, QUEUE, self.old, self.new, "HTTP/1.1", *words])
        self.addCleanup(capture.stop)
        return capture

    def start_relay(self, url, token):
        """A `tarry relay --config` of QUEUE.relay to standard output, and the file it writes."""
        self.token_file = self.directory / "token"
        self.give_relay(token)
        config = self.directory / "relay.toml"
        config.write_text(f'[store]\nurl = "{url}&token_file={self.token_file}"\n[[relay]]\n'
                          f'name = "r"\nqueues = ["{QUEUE}.relay"]\nto = "stdout"\n')
        out = open(self.directory / "relayed", "wb")
        log = open(self.directory / "relay-log", "wb")
        self.relay = subprocess.Popen([PROGRAM, "relay", "--config", str(config)], stdout=out,
                                      stderr=log, env=environment(),
                                      preexec_fn=lambda: enter(self.net.client))
        for cleanup in (self.relay.wait, self.relay.kill, out.close, log.close):
            self.addCleanup(cleanup)

    def give_relay(self, token):
        """Writes the relay's file, as a whole: it may read it at any time."""
        new = self.directory / "token.new"
        new.touch(mode=0o600)
        new.write_text(token + "\n")
        new.rename(self.token_file)

    def relayed(self):
        return len(Path(self.directory / "relayed").read_text().splitlines())

    def relay_log(self):
        return Path(self.directory / "relay-log").read_text()

    def relays_more(self):
        """Waits until the relay has forwarded something that it had not claimed yet."""
        for _ in range(2):
            before = self.relayed()
            eventually(lambda: self.relayed() > before or self.relay.poll() is not None,
                       "it relays more")

    def test_each_client_reaches_it_and_no_byte_is_in_clear(self):
        server = self.serve()
        capture = self.watch("order:42", "a lamp")
        tarry = (PROGRAM, "--store", server.url)
        self.there(*tarry, "push", QUEUE, PAYLOAD, "--key", "order:42")
        claimed = json.loads(self.there(*tarry, "claim", QUEUE, "-o", "json"))["messages"]
        self.assertEqual([one["payload"] for one in claimed], [PAYLOAD])
        self.there(*tarry, "ack", QUEUE, claimed[0]["receipt"])
        example = Path(PROGRAM).parent / "examples" / "example_claim_and_ack"
        self.assertEqual(self.there(example, server.url).splitlines(),
                         ["order:42: a lamp", "done"])
        at = f"https://{SERVER}:{server.port}"
        curl = ("curl", "-sS", "--fail-with-body", "--cacert", self.ca, "-H", "@-")
        headers = "".join(f"{name}: {value}\n" for name, value in
                          (JSON | {"Authorization": f"Bearer {self.old}"}).items())
        pushed = self.there(*curl, "-d", json.dumps({"payload": PAYLOAD, "key": "order:42"}),
                            f"{at}/v1/queues/{QUEUE}.relay/messages", stdin=headers)
        self.assertEqual(json.loads(pushed)["outcome"], "pushed")
        self.start_relay(server.url, self.old)
        eventually(lambda: self.relayed() == 1, "the relay forwards it")
        # Without a token, without the authority, and without TLS nobody is let in.
        for words, says in ((("--cacert", self.ca), "401"), ((), "certificate")):
            refused = subprocess.run(
                ["curl", "-sS", "--fail", *words, f"{at}/v1/queues"], capture_output=True,
                text=True, timeout=60, check=False, preexec_fn=lambda: enter(self.net.client))
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(says, refused.stderr)
        self.assertEqual(capture.seen, set())
        self.assertGreater(capture.bytes, 5_000)
        # The capture would have seen it.
        with self.net.inside(self.net.client), socket.socket(type=socket.SOCK_DGRAM) as plain:
            plain.sendto(f"it is {PAYLOAD}".encode(), (SERVER, 9))
        eventually(lambda: capture.seen == {PAYLOAD}, "it is seen")

    def test_no_request_fails_while_certificates_and_tokens_change(self):
        server = self.serve()
        capture = self.watch()
        context = ssl.create_default_context(cafile=self.ca)
        self.there(PROGRAM, "--store", server.url, "push", f"{QUEUE}.relay", PAYLOAD)
        self.start_relay(server.url, self.old)
        load = Load(self.net.client, server.port, context, self.old)
        self.addCleanup(load.stop)
        began = time.monotonic()
        tokens = [self.old, self.new]
        changes = 0
        while time.monotonic() - began < SECONDS or changes < 4:
            name = ("second", "first")[changes % 2]
            self.put(name)
            self.reload(server, f'certificate is that of "CN={name}"')
            self.let_in(*tokens)
            self.reload(server, "reloaded;")
            load.switch(tokens[1])
            self.give_relay(tokens[1])
            self.let_in(tokens[1])
            self.reload(server, "reloaded;")
            self.relays_more()
            tokens.reverse()
            changes += 1
        seconds = time.monotonic() - began
        load.stop()
        pushed = 1 + load.sum("for_relay")
        eventually(lambda: self.relayed() >= pushed or self.relay.poll() is not None,
                   "all are relayed")
        self.assertEqual(self.relay_log(), "")
        failed = [text for client in load.clients for text in client.failed]
        print(f"{load.sum('messages') / seconds:,.0f} messages/s in batches of {BATCH}, "
              f"{load.sum('requests'):,} requests on {load.sum('connections'):,} connections, "
              f"{changes} certificates and {changes} tokens changed, {len(failed)} failed; "
              f"{self.relayed()} of {pushed} relayed; {capture.bytes / 1e6:,.1f} MB on the wire")
        self.assertEqual(failed, [])
        self.assertEqual(self.relayed(), pushed)
        self.assertEqual(capture.seen, set())
        self.assertGreater(capture.bytes, load.sum("messages") * len(PAYLOAD))


if __name__ == "__main__":
    unittest.main()
