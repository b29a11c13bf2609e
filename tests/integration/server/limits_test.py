#!/usr/bin/env python3
"""Limits of all clients, of a peer and of a token: what each refuses, whom it names, whom it does
not hurt; SIGHUP; figures in /metrics."""

import hashlib
import http.client
import json
import re
import signal
import socket
import ssl
import threading
import unittest

from authority import Authority
from openapi import JSON_TYPE
from program import UNREACHABLE, USAGE, ProgramTest, Server, UnixConnection, eventually

PUSH = ("POST", "/v1/queues/orders/messages", {"payload": "x", "delay": "1h"})
CLAIM = ("POST", "/v1/claim", {"queues": ["none"], "wait": "1h"})
LOOK = ("POST", "/v1/claim", {"queues": ["none"]})
SETTLE = ("POST", "/v1/settle", {"items": [{"receipt": "r", "action": "ack"}]})
EXTEND = ("POST", "/v1/extend", {"items": [{"receipt": "r"}]})
CANCEL = ("POST", "/v1/queues/orders/cancel", {"keys": ["k"]})
PROBE = ("GET", "/healthz", None)
SHOP, BANK, SCRAPER = (f"{name}-secret-of-many-letters" for name in ("shop", "bank", "scraper"))


class Limits(ProgramTest):
    """A server with a file of tokens and one of settings."""

    def serve(self, tokens=True, listen="127.0.0.1:0", flags=(), **limits):
        self.file = self.directory / "tarry.toml"
        self.write(**limits)
        flags = ["--config", str(self.file), "--listen", listen, *flags]
        if tokens:
            named = self.directory / "tokens"
            named.touch(mode=0o600)
            named.write_text("".join(
                f"{name} read,push,consume * sha256:{hashlib.sha256(token.encode()).hexdigest()}\n"
                for name, token in (("shop", SHOP), ("bank", BANK), ("scraper", SCRAPER))))
            flags += ["--tokens-file", str(named)]
        self.server = Server("memory:", *flags)
        self.addCleanup(self.server.stop)
        return self.server

    def write(self, **limits):
        """`limits.*`, or `server.*` for max_connections and max_held."""
        sections = {"server": "", "limits": ""}
        for name, value in limits.items():
            literal = value if isinstance(value, int) else f'"{value}"'
            sections["server" if name.startswith("max_") else "limits"] += f"{name} = {literal}\n"
        self.file.write_text("".join(f"[{name}]\n{keys}" for name, keys in sections.items()))

    def reload(self, **limits):
        """SIGHUP with other limits."""
        done = self.server.log().count(" reloaded ")
        self.write(**limits)
        self.server.process.send_signal(signal.SIGHUP)
        eventually(lambda: self.server.log().count(" reloaded ") > done, "it has reloaded")

    def connect(self, source="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60,
                                                source_address=(source, 0))
        self.addCleanup(connection.close)
        return connection

    def ask(self, what, token=None, connection=None):
        """(status, body, Retry-After)"""
        own = connection or self.connect()
        self.send(own, what, token)
        told = self.receive(own)
        if connection is None:
            own.close()
        return told

    def send(self, connection, what, token=None):
        method, target, body = what
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        text = None
        if body is not None:
            headers["Content-Type"] = JSON_TYPE
            text = json.dumps(body)
        connection.request(method, target, text, headers)

    def receive(self, connection):
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers["Retry-After"]

    def until_refused(self, what, says, **more):
        """Asks until it is refused; nothing else than that refusal may come but 200."""
        answers = []

        def is_refused():
            answers.append(self.ask(what, **more))
            return answers[-1][0] != 200

        eventually(is_refused, "one is refused")
        self.is_refusal(answers[-1], says)

    def is_refusal(self, answer, says):
        status, text, retry_after = answer
        self.assertEqual((status, retry_after), (429, "1"), text)
        problem = json.loads(text)
        self.assertEqual(problem["detail"], says)
        self.assertEqual((problem["code"], problem["title"]), ("unavailable", "Too Many Requests"))

    def figure(self, name, by=SCRAPER, **labels):
        """One sample of /metrics. If the scraper is over a limit too, it comes again."""
        pages = []

        def comes():
            connection = self.connect("127.0.0.9")
            try:
                pages.append(self.ask(("GET", "/metrics", None), by, connection))
            except (OSError, http.client.HTTPException):
                return False
            finally:
                connection.close()
            return pages[-1][0] == 200

        eventually(comes, "the scraper may")
        wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
        line = name + ("{" + wanted + "}" if wanted else "")
        found = re.search(rf"^{re.escape(line)} (\d+)$", pages[-1][1], re.MULTILINE)
        self.assertTrue(found, f"no {line} in {pages[-1][1]}")
        return int(found[1])

    def refusals(self, limit, scope, **more):
        return self.figure("tarry_limit_refusals_total", limit=limit, scope=scope, **more)


class Requests(Limits):
    """Requests a second."""

    def test_a_token_is_limited_and_another_one_is_not_hurt(self):
        self.serve(requests_per_token=1)
        says = ("the limit of 1 requests a second for token shop is reached "
                "(limits.requests_per_token); try again in 1 s")
        self.until_refused(PUSH, says, token=SHOP)
        self.until_refused(PUSH, says, token=SHOP)
        self.assertGreaterEqual(self.refusals("requests", "token"), 2)
        self.assertEqual(self.refusals("requests", "peer"), 0)
        self.assertGreaterEqual(
            self.figure("tarry_token_refusals_total", token="shop", limit="requests"), 2)

    def test_while_one_hammers_another_gets_its_rate(self):
        self.serve(requests_per_token=50)
        stop = threading.Event()
        refused = []

        def hammer():
            connection = self.connect()
            while not stop.is_set():
                status, _, _ = self.ask(PUSH, SHOP, connection)
                if status == 429:
                    refused.append(status)

        thread = threading.Thread(target=hammer)
        thread.start()
        try:
            eventually(lambda: len(refused) > 20, "the shop is over its limit")
            connection = self.connect()
            for _ in range(50):  # its burst
                self.assertEqual(self.ask(PUSH, BANK, connection)[0], 200)
        finally:
            stop.set()
            thread.join()

    def test_what_ends_work_is_counted_but_never_refused(self):
        self.serve(requests_per_token=1)
        connection = self.connect()
        for what in (SETTLE, EXTEND, CANCEL, PROBE, ("GET", "/readyz", None)):
            for _ in range(10):
                status, text, _ = self.ask(what, SHOP, connection)
                self.assertEqual(status, 200, text)
        # An ack has used the permit up. Between the two less than a second passes at some time.
        answers = []

        def is_refused():
            self.ask(SETTLE, SHOP, connection)
            answers.append(self.ask(PUSH, SHOP, connection))
            return answers[-1][0] == 429

        eventually(is_refused, "acks count")

    def test_a_peer_is_an_address(self):
        self.serve(tokens=False, requests_per_peer=1)
        says = ("the limit of 1 requests a second for 127.0.0.1 is reached "
                "(limits.requests_per_peer); try again in 1 s")
        self.until_refused(PUSH, says)
        # A new connection does not help, another address does.
        self.assertEqual(self.ask(PUSH, connection=self.connect("127.0.0.2"))[0], 200)
        self.assertGreater(self.refusals("requests", "peer", by=None), 0)

    def test_a_peer_at_a_unix_socket_is_its_user(self):
        path = str(self.directory / "socket")
        self.serve(tokens=False, listen=f"127.0.0.1:0,unix:{path}", requests_per_peer=1)
        answers = []

        def is_refused():
            connection = UnixConnection(path)
            answers.append(self.ask(PUSH, connection=connection))
            connection.close()
            return answers[-1][0] == 429

        eventually(is_refused, "one is refused")
        self.assertRegex(answers[-1][1], r"the limit of 1 requests a second for user \d+ is reach")

    def test_all_clients_together(self):
        self.serve(tokens=False, requests=1)
        says = ("the limit of 1 requests a second for all clients is reached (limits.requests); "
                "try again in 1 s")
        self.until_refused(PUSH, says)
        self.until_refused(PUSH, says, connection=self.connect("127.0.0.2"))

    def test_a_refusal_leaves_the_connection_open(self):
        self.serve(tokens=False, requests_per_peer=1)
        connection = self.connect()
        self.assertEqual(self.ask(PROBE, connection=connection)[0], 200)
        first = connection.sock
        statuses = set()

        def both():
            statuses.add(self.ask(("GET", "/v1/queues", None), connection=connection)[0])
            return statuses == {200, 429}

        eventually(both, "some are refused, and some not")
        self.assertIs(connection.sock, first)

    def test_a_body_that_has_not_come_ends_with_the_connection(self):
        self.serve(tokens=False, requests_per_peer=1)
        head = (b"POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        told = []

        def is_refused():
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as begun:
                begun.sendall(head)
                begun.settimeout(0.2)
                try:
                    told.append(begun.recv(10_000).decode())
                except TimeoutError:
                    return False
                return True

        eventually(is_refused, "one is refused before its body has come")
        self.assertTrue(told[0].startswith("HTTP/1.1 429 "), told)
        self.assertIn("Connection: close", told[0])

    def test_sighup_raises_and_lifts_it(self):
        self.serve(tokens=False, requests_per_peer=1)
        self.until_refused(PUSH, "the limit of 1 requests a second for 127.0.0.1 is reached "
                                 "(limits.requests_per_peer); try again in 1 s")
        self.reload(requests_per_peer=1_000_000)
        self.assertIn("limits.requests_per_peer is now 1000000, it was 1", self.server.log())
        connection = self.connect()
        for _ in range(50):
            self.assertEqual(self.ask(PUSH, connection=connection)[0], 200)
        self.reload(requests=1)
        self.until_refused(PUSH, "the limit of 1 requests a second for all clients is reached "
                                 "(limits.requests); try again in 1 s")
        self.reload()
        for _ in range(50):
            self.assertEqual(self.ask(PUSH, connection=connection)[0], 200)

    def test_figures(self):
        self.serve(tokens=False, requests=1_000, requests_per_peer=500)
        for scope, value in (("total", 1_000), ("peer", 500), ("token", 0)):
            self.assertEqual(self.figure("tarry_limit_requests_per_second", None, scope=scope),
                             value)
        self.assertGreaterEqual(self.figure("tarry_used_requests_per_second", None), 1)

    def test_the_command_line_says_so(self):
        self.serve(tokens=False, requests_per_peer=1)
        answers = []

        def is_refused():
            answers.append(self.tarry("push", "orders", "x", store=self.server.url, code=None))
            return answers[-1].code != 0

        eventually(is_refused, "a command is refused")
        self.assertEqual(answers[-1].code, UNREACHABLE, answers[-1])
        self.assertIn("the limit of 1 requests a second for 127.0.0.1 is reached", answers[-1].err)
        self.assertEqual(len(answers[-1].err.splitlines()), 1, answers[-1])


class WaitingClaims(Limits):
    """Claims that wait."""

    def wait(self, waiting, token=None, source="127.0.0.1"):
        """A claim that waits; there are `waiting` then."""
        connection = self.connect(source)
        self.send(connection, CLAIM, token)
        eventually(lambda: self.figure("tarry_used_waiting_claims", token and SCRAPER) == waiting,
                   "the claim waits")
        return connection

    def push(self, token=None):
        self.assertEqual(self.ask(("POST", "/v1/queues/none/messages", {}), token)[0], 200)

    def test_a_peer(self):
        self.serve(tokens=False, waiting_claims_per_peer=1)
        first = self.wait(1)
        self.is_refusal(self.ask(CLAIM),
                        "the limit of 1 waiting claims for 127.0.0.1 is reached "
                        "(limits.waiting_claims_per_peer); try again in 1 s")
        self.assertEqual(self.ask(LOOK)[0], 200)  # does not wait
        other = self.wait(2, source="127.0.0.2")
        self.assertEqual(self.refusals("waiting_claims", "peer", by=None), 1)
        self.push()
        self.push()
        for connection in (first, other):
            self.assertEqual(len(json.loads(self.receive(connection)[1])["messages"]), 1)
        self.wait(1)

    def test_a_client_that_hangs_up_makes_room(self):
        self.serve(tokens=False, waiting_claims_per_peer=1)
        self.wait(1).close()
        eventually(lambda: self.figure("tarry_used_waiting_claims", None) == 0, "it has gone")
        self.wait(1)

    def test_a_token(self):
        self.serve(waiting_claims_per_token=1)
        self.wait(1, SHOP)
        self.is_refusal(self.ask(CLAIM, SHOP, self.connect("127.0.0.2")),
                        "the limit of 1 waiting claims for token shop is reached "
                        "(limits.waiting_claims_per_token); try again in 1 s")
        self.wait(2, BANK)
        self.assertEqual(self.refusals("waiting_claims", "token"), 1)
        self.assertEqual(
            self.figure("tarry_token_refusals_total", token="shop", limit="waiting_claims"), 1)

    def test_all_and_sighup(self):
        self.serve(tokens=False, waiting_claims=1)
        self.wait(1)
        self.is_refusal(self.ask(CLAIM, connection=self.connect("127.0.0.2")),
                        "the limit of 1 waiting claims for all clients is reached "
                        "(limits.waiting_claims); try again in 1 s")
        self.reload(waiting_claims=2)
        self.wait(2)
        self.reload(waiting_claims=1)  # what waits goes on waiting
        self.assertEqual(self.figure("tarry_used_waiting_claims", None), 2)
        self.assertEqual(self.ask(CLAIM)[0], 429)


class Connections(Limits):
    """Connections of a peer and of a token."""

    def keep(self, token=None, source="127.0.0.1"):
        """A connection that has sent a request and stays open."""
        connection = self.connect(source)
        status, text, _ = self.ask(LOOK, token, connection)
        self.assertEqual(status, 200, text)
        return connection

    def on_reserve(self, what):
        """The answer, and the connection, which is beyond the limit. The reserve has one place. If
        the connection before still has it, there is no answer, and it asks again."""
        answers = []

        def is_answered():
            connection = self.connect()
            try:
                answers.append((self.ask(what, connection=connection), connection))
            except (OSError, http.client.HTTPException):
                connection.close()
            return answers

        eventually(is_answered, "the reserve is free")
        return answers[-1]

    def is_closed(self, connection):
        """http.client closes its side when the server has said that it closes."""
        self.assertIsNone(connection.sock)

    def test_a_peer(self):
        self.serve(tokens=False, connections_per_peer=2)
        first, _ = self.keep(), self.keep()
        answer, third = self.on_reserve(PUSH)
        self.is_refusal(answer, "the limit of 2 connections for 127.0.0.1 is reached "
                                "(limits.connections_per_peer); try again in 1 s")
        self.is_closed(third)
        for what in (PROBE, SETTLE, EXTEND, CANCEL):
            answer, urgent = self.on_reserve(what)
            self.assertEqual(answer[0], 200)
            self.is_closed(urgent)
        self.keep(source="127.0.0.2")
        self.assertGreaterEqual(self.refusals("connections", "peer", by=None), 1)
        first.close()
        eventually(lambda: self.on_reserve(PUSH)[0][0] == 200, "there is room again")

    def test_beyond_the_reserve_a_peer_gets_no_answer(self):
        self.serve(tokens=False, connections_per_peer=1)
        self.keep()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as silent:
            silent.sendall(b"GET")  # it is on the reserve, of one
            eventually(lambda: self.figure("tarry_used_connections", None) >= 3, "it is open")
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as beyond:
                self.assertEqual(beyond.recv(1), b"")
        self.assertGreaterEqual(self.refusals("connections", "peer", by=None), 1)
        self.keep(source="127.0.0.2")

    def test_a_token(self):
        self.serve(connections_per_token=1)
        first = self.keep(SHOP)
        self.assertEqual(self.ask(PUSH, SHOP, first)[0], 200)  # the same connection
        second = self.connect("127.0.0.2")
        self.assertEqual(self.ask(PUSH, BANK, second)[0], 200)
        self.is_refusal(self.ask(PUSH, SHOP, second),
                        "the limit of 1 connections for token shop is reached "
                        "(limits.connections_per_token); try again in 1 s")
        self.is_closed(second)
        urgent = self.connect()
        self.assertEqual(self.ask(SETTLE, SHOP, urgent)[0], 200)
        self.is_closed(urgent)
        # The connection was the bank's until it sent the shop's token.
        eventually(lambda: self.ask(PUSH, BANK)[0] == 200, "the bank has room")
        self.assertEqual(self.refusals("connections", "token"), 1)
        self.assertEqual(
            self.figure("tarry_token_refusals_total", token="shop", limit="connections"), 1)
        first.close()
        eventually(lambda: self.ask(PUSH, SHOP)[0] == 200, "the shop has room")

    def test_sighup(self):
        self.serve(tokens=False, connections_per_peer=1)
        first = self.keep()
        self.assertEqual(self.on_reserve(PUSH)[0][0], 429)
        self.reload(connections_per_peer=10)
        kept = [first, self.keep(), self.keep()]
        self.reload(connections_per_peer=3)
        self.assertEqual(self.on_reserve(PUSH)[0][0], 429)
        for connection in kept:  # open connections stay
            self.assertEqual(self.ask(PUSH, connection=connection)[0], 200)

    def test_a_handshake_counts(self):
        authority = Authority(self.directory)
        authority.issue("server")
        self.serve(tokens=False, connections_per_peer=1, flags=(
            "--tls-cert", authority.chain("server"), "--tls-key", authority.key("server")))
        context = ssl.create_default_context(cafile=authority.path("root"))

        def ask():
            connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=60,
                                                     context=context)
            try:
                return self.ask(PUSH, connection=connection)[0]
            except (OSError, http.client.HTTPException):
                return None  # the reserve is not free
            finally:
                connection.close()

        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60):
            eventually(lambda: ask() == 429, "it counts before it has said anything")
        eventually(lambda: ask() == 200, "it has gone")

    def test_all_clients_together_get_503_as_ever(self):
        self.serve(tokens=False, max_connections=1)
        self.send(self.connect(), CLAIM)
        answers = []

        def is_refused():
            answers.append(self.ask(PUSH))
            return answers[-1][0] != 200

        eventually(is_refused, "the first one is busy")
        self.assertEqual((answers[-1][0], answers[-1][2]), (503, "1"))
        self.assertIn("there are 1 connections already", answers[-1][1])


class Held(Limits):
    """Bytes held for a peer and for a token."""

    def begin(self, size, token=None, source="127.0.0.1"):
        """A request whose body has come but for its last bytes."""
        client = socket.create_connection(("127.0.0.1", self.server.port), timeout=60,
                                          source_address=(source, 0))
        self.addCleanup(client.close)
        head = ("POST /v1/queues/orders/messages HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Type: application/json\r\nContent-Length: {size + 2}\r\n")
        if token:
            head += f"Authorization: Bearer {token}\r\n"
        client.sendall(head.encode() + b"\r\n" + b" " * size)
        return client

    LARGE = ("POST", "/v1/queues/orders/messages", {"payload": "x" * 5_000})

    def test_a_token(self):
        self.serve(held_per_token="1MiB")
        begun = self.begin(600_000, SHOP)
        answers = []

        def is_refused():
            answers.append(self.ask(self.LARGE, SHOP, self.connect("127.0.0.2")))
            return answers[-1][0] != 200

        eventually(is_refused, "what has come is held")
        self.is_refusal(answers[-1],
                        "the sum of all requests of token shop that are held is over the limit of "
                        "524288 bytes (half of limits.held_per_token)")
        self.assertEqual(self.ask(self.LARGE, BANK)[0], 200)
        self.assertEqual(self.ask(PUSH, SHOP)[0], 200)  # small
        self.assertEqual(self.ask(SETTLE, SHOP)[0], 200)
        self.assertEqual(self.refusals("held_bytes", "token"), 1)
        self.assertGreater(self.figure("tarry_used_held_bytes"), 600_000)
        self.assertEqual(self.figure("tarry_limit_held_bytes", scope="token"), 1 << 20)
        self.reload(held_per_token="2MiB")
        self.assertEqual(self.ask(self.LARGE, SHOP)[0], 200)
        self.reload(held_per_token="1MiB")
        self.assertEqual(self.ask(self.LARGE, SHOP)[0], 429)
        begun.close()
        eventually(lambda: self.ask(self.LARGE, SHOP)[0] == 200, "nothing is held")

    def test_a_peer(self):
        self.serve(tokens=False, held_per_peer="1MiB")
        self.begin(600_000)
        answers = []

        def is_refused():
            answers.append(self.ask(self.LARGE))
            return answers[-1][0] != 200

        eventually(is_refused, "what has come is held")
        self.is_refusal(answers[-1],
                        "the sum of all requests of 127.0.0.1 that are held is over the limit of "
                        "524288 bytes (half of limits.held_per_peer)")
        self.assertEqual(self.ask(self.LARGE, connection=self.connect("127.0.0.2"))[0], 200)
        self.assertEqual(self.refusals("held_bytes", "peer", by=None), 1)
        self.reload(max_held="8MiB")  # without held_per_peer it is a quarter of that, for each half
        self.assertEqual(self.figure("tarry_limit_held_bytes", None, scope="peer"), 4 << 20)
        self.assertEqual(self.ask(self.LARGE)[0], 200)

    def test_answers(self):
        self.serve(held_per_token="1MiB")
        # A claim that waits counts as an answer, with the memory of its body.
        body = json.dumps(CLAIM[2]) + " " * 300_000
        for _ in range(2):
            self.connect().request("POST", "/v1/claim", body, {
                "Content-Type": JSON_TYPE, "Authorization": f"Bearer {SHOP}"})
        answers = []

        def is_refused():
            answers.append(self.ask(LOOK, SHOP))
            return answers[-1][0] != 200

        eventually(is_refused, "the claims wait")
        self.is_refusal(answers[-1],
                        "the sum of all answers to token shop that are held is over the limit of "
                        "524288 bytes (half of limits.held_per_token)")
        self.assertEqual(self.ask(LOOK, BANK)[0], 200)
        self.assertEqual(self.refusals("held_bytes", "token"), 1)


class Flags(Limits):
    """Each limit by its flag."""

    def test_metrics_show_what_each_flag_sets(self):
        self.serve(tokens=False, flags=(
            "--max-connections", "100",
            "--limit-connections-per-peer", "101", "--limit-connections-per-token", "102",
            "--limit-held-per-peer", "3MiB", "--limit-held-per-token", "4MiB",
            "--limit-requests", "105", "--limit-requests-per-peer", "106",
            "--limit-requests-per-token", "107", "--limit-waiting-claims", "108",
            "--limit-waiting-claims-per-peer", "109", "--limit-waiting-claims-per-token", "110"))
        for name, total, peer, token in (
                ("connections", 100, 101, 102), ("held_bytes", 1 << 30, 3 << 20, 4 << 20),
                ("requests_per_second", 105, 106, 107), ("waiting_claims", 108, 109, 110)):
            for scope, value in (("total", total), ("peer", peer), ("token", token)):
                self.assertEqual(self.figure(f"tarry_limit_{name}", None, scope=scope), value)


class BadValues(Limits):
    """Settings that a server refuses."""

    def test_each_is_named_with_its_range(self):
        for name, value, says in (
                ("connections-per-peer", "1000001", "1000000"),
                ("connections-per-token", "-1", 'number "-1"'),
                ("held-per-peer", "2TiB", '"2TiB" is not from 0B to 1024GiB'),
                ("held-per-token", "much", '"much"'),
                ("requests", "-1", 'number "-1"'),
                ("requests-per-peer", "1000001", "1000000"),
                ("requests-per-token", "many", '"many"'),
                ("waiting-claims", "1.5", '"1.5"'),
                ("waiting-claims-per-peer", "1000001", "1000000"),
                ("waiting-claims-per-token", "x", '"x"')):
            with self.subTest(name):
                flag = f"--limit-{name}"
                answer = self.tarry("serve", "--store", "memory:", "--listen", "127.0.0.1:0", flag,
                                    value, code=USAGE, store="")
                self.assertEqual(len(answer.err.splitlines()), 1, answer)
                self.assertIn(f"tarry: {flag}: ", answer.err)
                self.assertIn(says, answer.err)

    def test_in_the_file_too(self):
        file = self.directory / "tarry.toml"
        file.write_text("[limits]\nrequests = 1000001\nrequest_per_peer = 1\n")
        answer = self.tarry("serve", "--store", "memory:", "--config", str(file), code=USAGE,
                            store="")
        self.assertEqual(answer.err.splitlines(), [
            f"tarry: {file}:2: limits.requests: 1000001 is not from 0 to 1000000",
            f'tarry: {file}:3: unknown key "request_per_peer" in [limits]; did you mean '
            '"requests_per_peer"?'])


if __name__ == "__main__":
    unittest.main()
