#!/usr/bin/env python3
"""Tokens with rights: what each may do and no more, on every route; what it is not told; rotation;
files that a server refuses."""

import hashlib
import http.client
import json
import re
import signal
import threading
import time
import unittest
from urllib.parse import quote

from openapi import JSON_TYPE, Document
from own_redis import Redis
from program import FAILED, USAGE, ProgramTest, Server, eventually
from token_files import line_of, secret

SCOPES = ("read", "push", "consume", "admin")
PATTERNS = ("*", "shop.*", "shop.eu", "mails,shop.*")
# Two that exist, and two that do not.
QUEUES = ("shop.eu", "bank", "shop.none", "bonk")
BODIES = {
    "pushMessage": {}, "pushMessages": {"messages": [{}]}, "cancelMessages": {"keys": ["k"]},
    "getMessages": {"keys": ["k"]}, "rescheduleMessages": {"items": [{"key": "k", "delay": 0}]},
    "bulkMessages": {"action": "cancel"}, "reviveMessages": {"all": True},
    "settleClaims": {"items": [{"receipt": "r", "action": "ack"}]},
    "extendLeases": {"items": [{"receipt": "r"}]}, "importMessages": {"messages": [{"key": "k"}]},
    "moveMessagesAway": {"messages": [{"key": "k", "id": "1", "due_ms": 18 * 10**11, "priority": 1,
                                       "tallies": {}}]},
    "configureQueue": {}, "pauseQueue": {}, "resumeQueue": {}, "purgeQueue": {},
    "reshardQueue": {"shards": 1}, "advanceClock": {"by": "1s"}, "suspendClock": {"by": "1s"},
    "stepClock": {"by": "1s"}}
QUERIES = {"getMessage": "?key=k"}


def fits(patterns, queue):
    """Whether one of the patterns matches the queue."""
    return any(queue.startswith(p[:-1]) if p.endswith("*") else queue == p
               for p in patterns.split(","))


class Asker:
    """Asks a server on one connection."""

    def __init__(self, server):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def __call__(self, method, target, token, body=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        text = None
        if body is not None:
            headers["Content-Type"] = JSON_TYPE
            text = json.dumps(body)
        self._connection.request(method, target, text, headers)
        response = self._connection.getresponse()
        return response.status, response.read().decode()

    def json(self, method, target, token, body=None):
        """Of an answer with status 200."""
        status, text = self(method, target, token, body)
        assert status == 200, text
        return json.loads(text)

    def close(self):
        """The connection."""
        self._connection.close()


class Tokens(ProgramTest):
    """A server with a tokens file."""

    def setUp(self):
        super().setUp()
        self.file = self.directory / "tokens"
        self.everything = secret()
        self.write(self.all_rights())

    def all_rights(self):
        """The line of a token that may do everything."""
        return line_of("everything", ",".join(SCOPES), "*", self.everything)

    def write(self, *lines):
        """The tokens file."""
        self.file.touch(mode=0o600)
        self.file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def serve(self, *flags, store=None):
        """A server, and a function that asks it."""
        server = Server(store or self.store, "--tokens-file", str(self.file), *flags)
        self.addCleanup(server.stop)
        ask = Asker(server)
        self.addCleanup(ask.close)
        return server, ask


class Matrix(Tokens):
    """Every route, with tokens of every scope and of several patterns, on several queues."""

    def setUp(self):
        super().setUp()
        self.tokens = {f"{scope}-{i}": (scope, patterns, secret())
                       for scope in SCOPES for i, patterns in enumerate(PATTERNS)}
        self.write(self.all_rights(), *(
            line_of(name, scope, patterns, token)
            for name, (scope, patterns, token) in self.tokens.items()))

    def operations(self, ask):
        """By id: method, path, and what the document says, which must name the rights."""
        document = Document(ask.json("GET", "/v1/openapi.json", self.everything))
        operations = {o["operationId"]: (m, p, o) for m, p, o in document.operations()}
        for name, (_, _, operation) in operations.items():
            self.assertRegex(operation.get("x-tarry-needs", "nothing"),
                             r"^(open|known|(read|push|consume|admin) "
                             r"(path|body|receipts|answer|schedule|store))$", name)
        return operations

    def state(self, ask):
        """All that a request could change, as long as no clock runs."""
        paths = ("/v1/queues", *(f"/v1/queues/{queue}/messages" for queue in QUEUES[:2]))
        return [ask("GET", path, self.everything) for path in paths]

    def test_each_token_may_do_what_its_line_says_and_no_more(self):
        _, ask = self.serve("--test-clock", store="memory:")
        operations = self.operations(ask)
        reaches = {o["x-tarry-needs"].split()[-1] for _, _, o in operations.values()}
        self.assertEqual(reaches, {"open", "known", "path", "body", "receipts", "answer",
                                   "schedule", "store"})
        for name, (scope, patterns, token) in self.tokens.items():
            for queue in ("shop.eu", "bank"):
                ask("POST", f"/v1/queues/{queue}/messages", self.everything, {"key": "k"})
            before = None
            for operation, (method, path, described) in operations.items():
                for asked, queues in self.cases(path, described):
                    body = BODIES.get(operation)
                    if operation == "claimMessages":
                        body = {"queues": queues}
                    missing = self.missing(described["x-tarry-needs"], scope, patterns, queues)
                    if missing is not None:
                        before = before or self.state(ask)
                    status, text = ask(method, asked + QUERIES.get(operation, ""), token, body)
                    with self.subTest(token=name, operation=operation, queues=queues):
                        if missing is None:
                            before = None
                            self.assertNotIn(status, (401, 403), text)
                        else:
                            self.assertEqual(status, 403, text)
                            self.assertEqual(json.loads(text)["detail"],
                                             f'the token "{name}" lacks the scope {missing}')
                            self.assertEqual(self.state(ask), before)
                        if operation != "getOpenapi":
                            self.assertEqual([], self.told(text, patterns, queues), text)

    def test_without_a_token_nothing_is_done_or_told(self):
        _, ask = self.serve("--test-clock", store="memory:")
        ask("POST", "/v1/queues/bank/messages", self.everything, {"key": "k"})
        operations = self.operations(ask)
        before = self.state(ask)
        for operation, (method, path, described) in operations.items():
            is_open = described["x-tarry-needs"] == "open"
            for token in ("", secret()):
                status, text = ask(method, path.replace("{queue}", "bank").replace("{name}", "n")
                                   .replace("{id}", "n"),
                                   token,
                                   BODIES.get(operation))
                with self.subTest(operation=operation, token=token):
                    self.assertEqual(status, 200 if is_open else 401, text)
                    self.assertEqual([], self.told(text, "", []), text)
        self.assertEqual(self.state(ask), before)

    @staticmethod
    def told(text, patterns, queues):
        """The queues in an answer that neither the request nor the token names."""
        return [queue for queue in QUEUES
                if queue in text and queue not in queues and not fits(patterns, queue)]

    @staticmethod
    def cases(path, operation):
        """(target, queues that the request names)"""
        if operation["x-tarry-needs"].endswith(" body"):
            return [(path, [queue]) for queue in QUEUES] + [
                (path, ["shop.eu", "bank"]), (path, ["shop.eu", "shop.none"])]
        if "{queue}" in path:
            return [(path.replace("{queue}", queue), [queue]) for queue in QUEUES]
        # Whose schedules a token may see and change: schedule_http_test.py.
        return [(path.replace("{name}", "none").replace("{id}", "none"), [])]

    @staticmethod
    def missing(needs, scope, patterns, queues):
        """The end of the refusal; None if the token suffices."""
        wanted, _, reach = needs.rpartition(" ")
        if reach in ("open", "known"):
            return None
        if reach == "store":
            return None if (scope, patterns) == (wanted, "*") else f"{wanted} on all queues (*)"
        if reach in ("receipts", "answer", "schedule") or (reach == "body" and scope != wanted):
            return None if scope == wanted else f"{wanted} on any queue"
        for queue in queues:
            if scope != wanted or not fits(patterns, queue):
                return f'{wanted} on queue "{queue}"'
        return None

    def test_a_body_that_is_wrong_tells_nothing_either(self):
        _, ask = self.serve()
        name = "read-1"  # shop.*
        token = self.tokens[name][2]
        for target in ("bank", "bonk"):
            self.assertEqual(ask("GET", f"/v1/stats?queue={target}", token)[0], 403)
            status, text = ask("POST", f"/v1/queues/{target}/get", token, {"wrong": 1})
            self.assertEqual((status, "lacks the scope" in text), (403, True), text)
        self.assertEqual(ask("GET", "/v1/stats?queue=shop.none", token)[0], 404)
        self.assertEqual(ask("GET", f"/v1/queues/{quote('*')}", token)[0], 403)


class Unseen(Tokens):
    """What a token may not see is not told."""

    def setUp(self):
        super().setUp()
        self.reader, self.all_reader = secret(), secret()
        self.write(self.all_rights(), line_of("reader", "read", "shop.*", self.reader),
                   line_of("scraper", "read", "*", self.all_reader))

    def fill(self, ask):
        """Three queues with a message each, of which one was claimed."""
        for queue in ("shop.eu", "shop.us", "bank"):
            ask.json("POST", f"/v1/queues/{queue}/messages", self.everything, {"key": queue})
        ask.json("POST", "/v1/claim", self.everything, {"queues": ["bank"]})
        ask.json("POST", "/v1/claim", self.everything, {"queues": ["shop.eu"]})

    def test_lists_stats_and_metrics_leave_out_other_queues(self):
        server, ask = self.serve("--log-level", "debug")
        self.fill(ask)
        queues = ask.json("GET", "/v1/queues", self.reader)["queues"]
        self.assertEqual(sorted(q["queue"] for q in queues), ["shop.eu", "shop.us"])
        for query in ("", "?names_only=true"):
            stats = ask.json("GET", "/v1/stats" + query, self.reader)
            self.assertEqual(sorted(q["queue"] for q in stats["queues"]), ["shop.eu", "shop.us"])
            self.assertEqual((stats["disk_bytes"], stats["syncs"], stats["lateness"]["count"]),
                             (0, 0, 0))
        whole = ask.json("GET", "/v1/stats", self.all_reader)
        self.assertEqual(len(whole["queues"]), 3)
        self.assertGreater(whole["disk_bytes"], 0)
        status, page = ask("GET", "/metrics", self.reader)
        self.assertEqual(status, 200)
        self.assertIn('tarry_messages{queue="shop.us",state="ready"} 1', page)
        self.assertIn('tarry_lateness_seconds_count{queue="shop.eu"} 1', page)
        for hidden in ("bank", "tarry_journal", "tarry_http", "tarry_queues"):
            self.assertNotIn(hidden, page)
        _, page = ask("GET", "/metrics", self.all_reader)
        for shown in ('tarry_lateness_seconds_count{queue="bank"} 1', "tarry_journal_disk_bytes ",
                      "tarry_http_requests_total", "tarry_queues 3"):
            self.assertIn(shown, page)
        self.assertRegex(server.log(), r"request \S+ GET /v1/queues: 200 after \d+ us, token r")
        self.assertNotIn(self.reader, server.log())

    def test_relays_are_shown_to_tokens_that_may_read_all_their_queues(self):
        config = self.directory / "tarry.toml"
        config.write_text("".join(
            f'[[relay]]\nname = "{name}"\nqueues = {queues}\nto = "command"\ncommand = ["true"]\n'
            for name, queues in (("eu", '["shop.eu"]'), ("shops", '["shop.*"]'),
                                 ("both", '["shop.eu", "bank"]'), ("all", '["*"]'))))
        _, ask = self.serve("--config", str(config))
        named = {token: set(re.findall(r'tarry_relay_up{relay="(\w+)"}',
                                       ask("GET", "/metrics", token)[1]))
                 for token in (self.reader, self.all_reader)}
        self.assertEqual(named, {self.reader: {"eu", "shops"},
                                 self.all_reader: {"eu", "shops", "both", "all"}})


class Receipts:
    """A receipt is worth nothing to a token that may not consume from its queue."""

    def test_receipts_of_other_queues_are_stale(self):
        mine, other = secret(), secret()
        self.write(self.all_rights(), line_of("mine", "consume", "shop.*", mine),
                   line_of("other", "consume", "bank", other))
        _, ask = self.serve()
        receipts = {}
        for queue in ("shop.eu", "bank"):
            ask.json("PUT", f"/v1/queues/{queue}", self.everything, {"remember": "1h"})
            ask.json("POST", f"/v1/queues/{queue}/messages", self.everything, {"key": "k"})
            message, = ask.json("POST", "/v1/claim", self.everything,
                                {"queues": [queue]})["messages"]
            receipts[queue] = message["receipt"]

        def outcomes(route, token, **more):
            items = [{"receipt": receipt} | more for receipt in receipts.values()]
            results = ask.json("POST", route, token, {"items": items})["results"]
            return [result["outcome"] for result in results]

        self.assertEqual(outcomes("/v1/extend", mine, lease="1h"), ["done", "stale"])
        self.assertEqual(outcomes("/v1/extend", other, lease="1h"), ["stale", "done"])
        self.assertEqual(outcomes("/v1/settle", mine, action="ack"), ["done", "stale"])
        self.assertEqual(outcomes("/v1/settle", mine, action="ack"), ["done", "stale"])
        self.assertEqual(outcomes("/v1/settle", other, action="ack"), ["stale", "done"])
        # What is remembered is not told either.
        self.assertEqual(outcomes("/v1/settle", mine, action="ack"), ["done", "stale"])
        self.assertEqual(outcomes("/v1/settle", self.everything, action="ack"), ["done", "done"])
        self.assertEqual(outcomes("/v1/settle", self.everything, action="bury"), ["stale"] * 2)


class ReceiptsOfFiles(Receipts, Tokens):
    """On the embedded engine."""


class ReceiptsOfRedis(Receipts, Tokens, Redis):
    """On Redis."""


class Rotation(Tokens):
    """Tokens come and go while the server runs."""

    def reload(self, server, says):
        """Sends SIGHUP; what the log has then, from there on, once it has `says`."""
        before = len(server.log())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: says in server.log()[before:], says)
        return server.log()[before:]

    def test_two_are_valid_at_once_until_one_is_withdrawn(self):
        old, new = secret(), secret()
        lines = {"old": line_of("shop", "push,consume", "shop.*", old),
                 "new": line_of("shop-2", "push,consume", "shop.*", new)}
        self.write(self.all_rights(), lines["old"])
        server, ask = self.serve()

        def push(token):
            return ask("POST", "/v1/queues/shop.eu/messages", token, {})[0]

        self.assertEqual((push(old), push(new)), (200, 401))
        self.write(self.all_rights(), *lines.values())
        self.assertIn("1 of 3 tokens are new or changed; 0 of before are refused",
                      self.reload(server, "reloaded;"))
        self.assertEqual((push(old), push(new)), (200, 200))
        ask.json("PUT", "/v1/queues/shop.us", self.everything, {})
        answers = {}

        def wait(name, token):
            with_token = Asker(server)
            answers[name] = with_token("POST", "/v1/claim", token,
                                       {"queues": ["shop.us"], "wait": "50s"})[0]
            with_token.close()

        threads = {name: threading.Thread(target=wait, args=(name, token))
                   for name, token in (("old", old), ("new", new))}
        for thread in threads.values():
            thread.start()

        def waiting():
            queues = ask.json("GET", "/v1/queues", self.everything)["queues"]
            return sum(q["waiting_claims"] for q in queues if q["queue"] == "shop.us")

        eventually(lambda: waiting() == 2, "two claims wait")
        self.write(self.all_rights(), lines["new"])
        self.reload(server, "reloaded;")
        threads["old"].join()
        self.assertEqual((push(old), push(new)), (401, 200))
        self.assertEqual(ask("POST", "/v1/queues/shop.us/messages", new, {})[0], 200)
        threads["new"].join()
        self.assertEqual(answers, {"old": 401, "new": 200})
        self.assertNotIn(new, server.log())

    def test_a_bad_file_keeps_the_old_one(self):
        server, ask = self.serve()
        self.write(self.all_rights(), "broken reed *", "x")
        log = self.reload(server, "not reloaded")
        self.assertEqual(len(log.splitlines()), 1, log)
        self.assertIn(f"{self.file}:2: 3 words; a token has 4 or 5", log)
        self.assertIn("(and 1 more)", log)
        self.assertEqual(ask("GET", "/v1/queues", self.everything)[0], 200)
        self.file.chmod(0o644)
        self.assertIn("chmod o-r", self.reload(server, "not reloaded"))
        self.assertEqual(ask("GET", "/v1/queues", self.everything)[0], 200)

    def test_a_token_ends_by_itself(self):
        brief = secret()
        end = time.time() + 3
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
        self.write(self.all_rights(), line_of("brief", "read", "*", brief, stamp))
        server, ask = self.serve()
        eventually(lambda: ask("GET", "/v1/queues", brief)[0] == 401, "the token ends")
        self.assertGreaterEqual(time.time(), int(end))
        self.assertIn('holds the token \\"brief\\", which ended at',
                      ask("GET", "/v1/queues", brief)[1])
        self.assertIn('the token "brief" ended at', self.reload(server, "reloaded;"))
        self.assertEqual(ask("GET", "/v1/queues", self.everything)[0], 200)

    def test_the_token_of_token_file_goes_on(self):
        other = self.directory / "token"
        other.touch(mode=0o600)
        other.write_text("the-one-for-everything\n")
        _, ask = self.serve("--token-file", str(other), "--test-clock")
        for token in ("the-one-for-everything", self.everything):
            self.assertEqual(ask("POST", "/v1/clock/advance", token, {"by": "1s"})[0], 200)
        self.assertEqual(ask("GET", "/v1/queues", "another-one-for-everything")[0], 401)


class Throttle(Tokens):
    """A peer that is refused again and again."""

    def test_too_many_refusals_are_answered_with_429(self):
        self.write(self.all_rights())
        server, ask = self.serve()
        statuses = []

        def refused():
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", "/v1/queues", headers={"Authorization": "Bearer wrong"})
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
            retry = response.headers["Retry-After"]
            connection.close()
            return retry

        eventually(lambda: refused() is not None, "it is told to slow down")
        self.assertEqual(set(statuses[:200]), {401})
        self.assertEqual(statuses[-1], 429)
        # Others at the same address go on.
        self.assertEqual(ask("GET", "/v1/queues", self.everything)[0], 200)
        self.assertEqual(ask("GET", "/healthz", "")[0], 200)
        # A refusal is forgotten after a while.
        eventually(lambda: refused() is None, "one more is answered with 401")


class CommandLine(Tokens):
    """The clients send a token as before."""

    def test_commands_send_it_and_say_what_it_lacks(self):
        shop = secret()
        self.write(self.all_rights(), line_of("shop", "push,consume", "shop.*", shop))
        server, _ = self.serve()
        at = {"store": server.url, "TARRY_TOKEN": shop}
        self.asked("push", "shop.eu", "x", "--key", "k", **at)
        claimed = self.asked("claim", "shop.eu", **at)
        receipt = claimed["messages"][0]["receipt"] if "messages" in claimed else \
            claimed["receipt"]
        self.tarry("ack", "shop.eu", receipt, **at)
        self.refused("get", "shop.eu", "k", code=FAILED, **at,
                     says='the token "shop" lacks the scope read on queue "shop.eu"')
        self.refused("push", "bank", "x", code=FAILED, **at,
                     says='the token "shop" lacks the scope push on queue "bank"')
        self.tarry("get", "bank", "k", code=None, store=server.url, TARRY_TOKEN=self.everything)


class BadFiles(Tokens):
    """Files that a server refuses, before it listens."""

    def start(self, *says):
        """One line on standard error for each of `says`, which it has; and exit code 2."""
        port_file = self.directory / "port"
        answer = self.tarry("serve", "--store", self.store, "--listen", "127.0.0.1:0",
                            "--port-file", str(port_file), "--tokens-file", str(self.file),
                            code=USAGE, store="")
        lines = answer.err.splitlines()
        self.assertEqual(len(lines), len(says), answer)
        for line, said in zip(lines, says):
            self.assertIn(str(self.file), line)
            self.assertIn(said, line)
        self.assertFalse(port_file.exists())
        self.assertFalse((self.directory / "store").exists())

    def test_each_fault_has_its_line(self):
        good = self.all_rights()
        digest = "sha256:" + hashlib.sha256(b"x").hexdigest()
        for line, says in (
                (f"a reed * {digest}", 'scope "reed" is not read, push, consume or admin'),
                (f"a read sh*p {digest}", 'pattern "sh*p" may have a * at its end only'),
                (f"a read -x* {digest}", '"-x'),
                (f"a read * {digest} 2020-01-01T00:00:00Z",
                 'the token "a" ended at 2020-01-01T00:00:00.000Z'),
                (f"a read * {digest} tomorrow", '"tomorrow"'),
                (f"everything read * {digest}", 'the name "everything" is on line 1 too'),
                (good.replace("everything", "again", 1),
                 'the token "again" has the hash of line 1'),
                ("a read * sha256:12", "is not sha256: and 64 of 0-9a-f"),
                ("a", "1 word; a token has 4 or 5")):
            with self.subTest(line):
                self.write(good, line)
                self.start(f"{self.file}:2: ")
                self.start(says)

    def test_all_faults_are_named_at_once(self):
        self.write("a", "b reed * x", "c read * x")
        self.start(":1: 1 word", ':2: scope "reed"', ":3: the hash")

    def test_the_file_must_be_its_owners(self):
        self.file.chmod(0o644)
        self.start("can be read by every user of this machine: chmod o-r")
        self.file.chmod(0o620)
        self.start("can be written by other users: chmod go-w")
        self.file.unlink()
        self.start("No such file")
        self.file.mkdir()
        self.start("not a regular file")

    def test_a_file_without_tokens_lets_nobody_in(self):
        self.write("# nobody")
        _, ask = self.serve()
        self.assertEqual(ask("GET", "/v1/queues", "any-token-whatever")[0], 401)
        self.assertEqual(ask("GET", "/v1/queues", "")[0], 401)
        self.assertEqual(ask("GET", "/healthz", "")[0], 200)


if __name__ == "__main__":
    unittest.main()
