#!/usr/bin/env python3
"""The audit log: a line for every act, also when it is refused; rotation; a file that cannot be
written; and `tarry audit-log`, which reads it."""

import base64
import http.client
import json
import os
import resource
import signal
import stat
import subprocess
import unittest
from pathlib import Path
from urllib.parse import quote

from openapi import JSON_TYPE
from own_redis import Redis
from program import DONE, FAILED, PROGRAM, USAGE, Server, environment, eventually
from token_files import line_of, secret
from tokens_test import Asker, Tokens

# act: (method, end of the path below the queue's, body)
ACTS = {"cancel": ("POST", "/cancel", {"keys": ["k"]}),
        "reschedule": ("POST", "/reschedule", {"items": [{"key": "k", "delay": "1h"}]}),
        "revive": ("POST", "/revive", {"keys": ["k"]}),
        "bulk": ("POST", "/bulk", {"action": "cancel"}),
        "purge": ("POST", "/purge", {}), "pause": ("POST", "/pause", {}),
        "resume": ("POST", "/resume", {}), "configure": ("PUT", "", {"lease": "1m"}),
        "reshard": ("POST", "/reshard", {"shards": 1}),
        "import": ("POST", "/import", {"messages": [{"key": "k"}]}),
        "move_away": ("POST", "/move-away", {"messages": [
            {"key": "k", "id": "1", "due_ms": 18 * 10**11, "priority": 1, "tallies": {}}]}),
        "remove": ("DELETE", "", None)}
WRONG = {"cancel": {"keys": 1}, "reschedule": {"items": 1}, "revive": {}, "bulk": {"action": "x"},
         "purge": {"a": 1}, "pause": {"until": 1}, "resume": {"a": 1}, "configure": {"lease": "x"},
         "reshard": {}, "import": {"messages": 1}, "move_away": {"messages": 1}}


class Audited(Tokens):
    """A server with a tokens file and an audit log."""

    def setUp(self):
        super().setUp()
        self.audit = self.directory / "audit.jsonl"
        self.reader = secret()
        self.write(self.all_rights(), line_of("reader", "read", "*", self.reader))

    def serve(self, *flags, store=None):
        return super().serve("--audit-log", str(self.audit), *flags, store=store)

    def lines(self, file=None):
        """All lines, each of which is valid JSON."""
        text = Path(file or self.audit).read_bytes()
        self.assertTrue(not text or text.endswith(b"\n"), text[-200:])
        return [json.loads(line) for line in text.decode("utf-8").split("\n")[:-1]]

    def new_lines(self, before):
        """Those after the first `before`, without what differs from run to run."""
        lines = self.lines()[before:]
        for line in lines:
            self.assertRegex(line.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertRegex(line.pop("peer"), r"^127\.0\.0\.1:\d+$")
            self.assertEqual(line.pop("front"), "http")
            self.assertTrue(line.pop("request_id"))
        return lines

    def act(self, ask, act, token, queue="orders"):
        """Asks for it; returns the answer's status and the lines."""
        method, path, body = ACTS[act]
        before = len(self.lines())
        status, _ = ask(method, f"/v1/queues/{queue}{path}", token, body)
        return status, self.new_lines(before)


class Acts(Audited):
    """Every act leaves its line."""

    def done(self, ask, act, **more):
        status, lines = self.act(ask, act, self.everything)
        self.assertEqual(status, 200)
        wanted = {"act": act, "identity": "everything", "queue": "orders"} | more
        wanted = [wanted] if "outcome" in wanted else [wanted | {"outcome": "done"}]
        for line in lines:
            line.pop("due", None)
            line.pop("due_ms", None)
        self.assertEqual(lines, wanted)

    def test_every_act_that_is_done(self):
        _, ask = self.serve()

        def push(key="k"):
            ask.json("POST", "/v1/queues/orders/messages", self.everything, {"key": key})

        def claim():
            return ask.json("POST", "/v1/claim", self.everything, {"queues": ["orders"]})[
                "messages"][0]["receipt"]

        def settle(*items):
            ask.json("POST", "/v1/settle", self.everything, {"items": items})

        push()
        self.assertEqual(self.lines(), [], "a push is no act")
        self.done(ask, "reschedule", key="k", outcome="rescheduled")
        self.done(ask, "cancel", key="k", outcome="cancelled")
        self.done(ask, "cancel", key="k", outcome="unknown")
        self.done(ask, "import", outcomes={"pushed": 1}, failed=0)
        self.done(ask, "move_away", outcomes={"kept": 1}, failed=0)
        self.done(ask, "configure", settings={"lease_ms": 60_000})
        self.done(ask, "pause")
        self.done(ask, "resume")
        self.done(ask, "revive", key="k", outcome="unknown")
        receipt = claim()
        before = len(self.lines())
        settle({"receipt": "none", "action": "ack"},
               {"receipt": receipt, "action": "bury", "reason": "bad"})
        self.assertEqual(self.new_lines(before), [
            {"act": "bury", "identity": "everything", "receipt": receipt, "outcome": "done"}])
        self.done(ask, "revive", key="k", outcome="revived")
        receipt = claim()
        before = len(self.lines())
        answer = ask.json("POST", "/v1/claim", self.everything, {
            "queues": ["orders"], "settle": [{"receipt": receipt, "action": "bury"}]})
        self.assertEqual(answer["settled"], [{"outcome": "done"}])
        self.assertEqual(self.new_lines(before), [
            {"act": "bury", "identity": "everything", "receipt": receipt, "outcome": "done"}])
        self.done(ask, "revive", key="k", outcome="revived")
        push("l")
        before = len(self.lines())
        settle({"receipt": claim(), "action": "ack"}, {"receipt": claim(), "action": "release"})
        self.assertEqual(self.lines()[before:], [], "an ack is no act")
        status, (line,) = self.act(ask, "reshard", self.everything)
        self.assertEqual((status, line["outcome"], line["code"]), (501, "refused", "unsupported"))
        self.done(ask, "purge", count=1)
        self.done(ask, "remove", count=0)

    def test_verbs_on_many_have_their_filter_and_counts(self):
        _, ask = self.serve()
        for key in ("a1", "a2", "b1"):
            ask.json("POST", "/v1/queues/orders/messages", self.everything, {"key": key})
        target = "/v1/queues/orders/bulk"
        bulk = {"action": "cancel", "prefix": "a"}
        ask.json("POST", target, self.everything, bulk | {"dry_run": True})
        self.assertEqual(self.lines(), [], "a dry run changes nothing")
        ask.json("POST", target, self.everything, bulk)
        ask.json("POST", target, self.everything, bulk)
        same = {"act": "cancel", "identity": "everything", "queue": "orders", "outcome": "done",
                "filter": {"prefix": "a"}, "failed": 0}
        self.assertEqual(self.new_lines(0), [
            same | {"looked": 2, "matched": 2, "outcomes": {"cancelled": 2}},
            same | {"looked": 0, "matched": 0, "outcomes": {}}])
        before = len(self.lines())
        ask.json("POST", target, self.everything, {"action": "remove", "reason": "x*"})
        ask.json("POST", "/v1/queues/orders/revive", self.everything, {"all": True})
        self.assertEqual([(line["act"], line["outcome"]) for line in self.new_lines(before)],
                         [("remove_dead", "done"), ("revive", "done")])

    def test_every_act_that_is_refused(self):
        _, ask = self.serve()
        for act in ACTS:
            with self.subTest(act):
                status, lines = self.act(ask, act, self.reader)
                self.assertEqual(status, 403)
                scope = "push" if act in ("cancel", "reschedule") else "admin"
                self.assertEqual(lines, [{
                    "act": act, "identity": "reader", "queue": "orders", "outcome": "refused",
                    "status": 403, "code": "permission_denied",
                    "reason": f'the token "reader" lacks the scope {scope} on queue "orders"'}])
        for act, body in WRONG.items():
            with self.subTest(act, body=body):
                before = len(self.lines())
                method, path, _ = ACTS[act]
                self.assertEqual(
                    ask(method, f"/v1/queues/orders{path}", self.everything, body)[0], 400)
                self.assertEqual(self.new_lines(before), [{
                    "act": act, "identity": "everything", "queue": "orders", "outcome": "refused",
                    "status": 400, "code": "invalid_argument"}])
        before = len(self.lines())
        bury = {"items": [{"receipt": "r", "action": "bury"}]}
        self.assertEqual(ask("POST", "/v1/settle", self.reader, bury)[0], 403)
        line, = self.new_lines(before)
        self.assertEqual((line["act"], line["outcome"], line["status"]), ("bury", "refused", 403))
        before = len(self.lines())
        bury = {"queues": ["orders"], "settle": bury["items"]}
        self.assertEqual(ask("POST", "/v1/claim", self.reader, bury)[0], 403)
        line, = self.new_lines(before)
        self.assertEqual((line["act"], line["outcome"], line["status"]), ("bury", "refused", 403))

    def test_what_the_store_refuses(self):
        _, ask = self.serve()
        status, lines = self.act(ask, "remove", self.everything, queue="none")
        self.assertEqual((status, lines[0]["outcome"], lines[0]["status"], lines[0]["code"]),
                         (404, "refused", 404, "not_found"))
        ask.json("POST", "/v1/queues/orders/messages", self.everything, {"key": "k"})
        ask.json("POST", "/v1/claim", self.everything, {"queues": ["orders"]})
        status, lines = self.act(ask, "remove", self.everything)
        self.assertEqual((status, lines[0]["outcome"], lines[0]["code"]),
                         (409, "refused", "conflict"))
        self.assertIn("leased", lines[0]["reason"])
        _, lines = self.act(ask, "reschedule", self.everything)
        self.assertEqual([(line["key"], line["outcome"]) for line in lines], [("k", "in_flight")])

    def test_each_key_of_a_batch_has_its_line_also_when_it_cannot_be_read(self):
        _, ask = self.serve()
        ask.json("POST", "/v1/queues/orders/messages", self.everything, {"key": "k0"})
        keys = [f"k{i}" for i in range(10_000)]
        keys[7] = 7  # not a key
        ask.json("POST", "/v1/queues/orders/cancel", self.everything, {"keys": keys})
        lines = self.new_lines(0)
        self.assertEqual(len(lines), 10_000)
        self.assertEqual([lines[0]["key"], lines[0]["outcome"]], ["k0", "cancelled"])
        self.assertEqual({line["outcome"] for line in lines[1:-1]}, {"unknown"})
        self.assertEqual(lines[-1], {
            "act": "cancel", "identity": "everything", "queue": "orders", "outcome": "refused",
            "code": "invalid_argument", "items": 1})
        before = len(self.lines())
        ask.json("POST", "/v1/queues/orders/cancel", self.everything, {"keys": [1, 2]})
        line, = self.new_lines(before)
        self.assertEqual((line["outcome"], line["code"]), ("refused", "invalid_argument"))

    def test_names_of_any_bytes(self):
        _, ask = self.serve()
        keys = [b"\xff\xfe", b"\x00\n\"\\\x7f", "\u2028\U0001f4a9".encode(), b"\xed\xa0\x80"]
        ask.json("POST", "/v1/queues/orders/cancel", self.everything,
                 {"keys_base64": [base64.b64encode(key).decode() for key in keys]})
        said = [base64.b64decode(line["key_base64"]) if "key_base64" in line
                else line["key"].encode() for line in self.new_lines(0)]
        self.assertEqual(said, keys)
        before = len(self.lines())
        for name in (b"\xff", b"a\n\"", b"\x00"):
            ask("POST", f"/v1/queues/{quote(name)}/purge", self.reader, {})
        self.assertEqual([line["status"] for line in self.new_lines(before)], [403] * 3)

    def test_payloads_and_secrets_are_not_in_it(self):
        server, ask = self.serve("--log-level", "debug")
        message = {"key": "k", "payload": "the-payload", "headers": {"a": "the-header"}}
        ask.json("POST", "/v1/queues/orders/import", self.everything, {"messages": [message]})
        ask("POST", "/v1/queues/orders/import", self.everything,
            {"messages": "the-payload", "the-header": 1})
        ask("POST", "/v1/queues/orders/purge", "the-wrong-token-of-somebody", {})
        text = self.audit.read_text()
        for word in ("the-payload", "the-header", "the-wrong-token", self.everything):
            self.assertNotIn(word, text)
        self.assertEqual(len(self.lines()), 3)
        # The debug log names the token too.
        self.assertRegex(server.log(), r"request \S+ POST /v1/queues/\*/import: 200 after \d+ us, "
                                       "token everything")

    def test_what_a_limit_refuses_is_told(self):
        """Such a request is refused before its route is looked up."""
        _, ask = self.serve("--limit-requests-per-token", "1")
        before = len(self.lines())
        statuses = []
        for _ in range(50):
            statuses.append(ask("POST", "/v1/queues/orders/purge", self.everything, {})[0])
            if statuses[-1] == 429:
                break
        self.assertEqual(statuses[-1], 429)
        line = self.new_lines(before)[-1]
        self.assertEqual((line["act"], line["queue"], line["outcome"], line["status"]),
                         ("purge", "orders", "refused", 429))

    def test_refused_tokens_are_told_now_and_then(self):
        server, ask = self.serve()
        sent = 0

        def refuse():
            nonlocal sent
            sent += 1
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", "/v1/queues/orders/purge", "{}",
                               {"Authorization": "Bearer wrong", "Content-Type": JSON_TYPE})
            status = connection.getresponse().status
            connection.close()
            return status

        self.assertEqual({refuse() for _ in range(250)}, {401, 429})

        def told():
            return sum(1 + line.get("left_out", 0) for line in self.lines())

        # A line that comes later counts those that were left out.
        eventually(lambda: refuse() and told() == sent, "all are told")
        self.assertEqual(ask("POST", "/v1/queues/orders/purge", self.everything, {})[0], 200)
        lines = self.new_lines(0)
        self.assertEqual(lines.pop()["act"], "purge")
        self.assertEqual({(line["act"], line["outcome"]) for line in lines},
                         {("token_refused", "refused")})
        self.assertLessEqual({line["status"] for line in lines}, {401, 429})
        self.assertNotIn("queue", lines[0])
        self.assertLess(len(lines), 100)

    def test_a_client_that_hangs_up_leaves_its_line(self):
        server, ask = self.serve()
        body = json.dumps({"keys": ["gone"]}).encode()
        for i in range(20):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", "/v1/queues/orders/cancel", body, {
                "Authorization": f"Bearer {self.everything}", "Content-Type": JSON_TYPE,
                "X-Request-ID": f"gone-{i}"})
            connection.close()
        eventually(lambda: len(self.lines()) >= 20, "all have their line")
        self.assertEqual({line["request_id"] for line in self.lines()},
                         {f"gone-{i}" for i in range(20)})
        self.assertEqual({line["outcome"] for line in self.lines()}, {"unknown"})
        self.assertEqual(ask("GET", "/v1/queues", self.everything)[0], 200)


class Away(Redis):
    """A store that cannot be reached."""

    def test_what_fails_says_so(self):
        audit = self.directory / "audit.jsonl"
        with Server(self.store, "--audit-log", str(audit)) as server:
            ask = Asker(server)
            ask.json("PUT", "/v1/queues/orders", "", {})
            ask.json("POST", "/v1/queues/orders/reshard", "", {"shards": 2})
            self.redis.shoot()
            status, _ = ask("POST", "/v1/queues/orders/purge", "", {})
            ask.close()
            self.assertIn(status, (500, 503))
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        self.assertEqual([line["act"] for line in lines], ["configure", "reshard", "purge"])
        self.assertEqual((lines[1]["outcome"], lines[1]["shards"]), ("done", 2))
        self.assertIn(lines[2]["outcome"], ("failed", "unknown_outcome"))
        self.assertEqual(lines[2]["status"], status)
        self.assertNotIn("identity", lines[2])


class TheFile(Audited):
    """Its mode, its rotation, and what happens if it cannot be written."""

    def purge(self, ask):
        ask.json("POST", "/v1/queues/orders/purge", self.everything, {})

    def test_rotation(self):
        server, ask = self.serve()
        ask.json("PUT", "/v1/queues/orders", self.everything, {})
        self.assertEqual(stat.S_IMODE(self.audit.stat().st_mode), 0o600)
        old = self.directory / "audit.jsonl.1"
        self.audit.rename(old)
        self.purge(ask)
        self.assertEqual([line["act"] for line in self.lines(old)], ["configure", "purge"])
        self.assertFalse(self.audit.exists())
        self.reload(server, "reloaded;")
        self.assertTrue(self.audit.exists())
        self.purge(ask)
        self.assertEqual(len(self.lines()), 1)
        self.assertEqual(len(self.lines(old)), 2)
        self.audit.unlink()
        self.audit.mkdir()
        self.assertIn("Is a directory", self.reload(server, "not reloaded"))
        self.assertEqual(ask("POST", "/v1/queues/orders/purge", self.everything, {})[0], 200)

    def reload(self, server, said):
        before = len(server.log())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: said in server.log()[before:], said)
        return server.log()[before:]

    def test_a_full_disk_stops_nothing_and_is_told(self):
        server = Server("memory:", "--audit-log", str(self.audit), "--tokens-file", str(self.file),
                        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
        self.addCleanup(server.stop)
        ask = Asker(server)
        self.addCleanup(ask.close)
        ask.json("PUT", "/v1/queues/orders", self.everything, {})
        for _ in range(10):
            self.purge(ask)
        self.assertIn("acts are missing in the audit log: File too large", server.log())
        page = ask("GET", "/metrics", self.everything)[1]
        figures = {line.split()[0]: int(line.split()[1]) for line in page.splitlines()
                   if line.startswith("tarry_audit_")}
        self.assertEqual(sum(figures.values()), 11)
        self.assertGreater(figures["tarry_audit_lost_total"], 5)
        self.assertEqual(self.audit.stat().st_size, 500)

    def test_a_line_that_was_cut_off_does_not_spoil_the_next(self):
        self.audit.write_text('{"time":"2030-01-01T00:00:00Z","act":"pur')
        self.audit.chmod(0o644)
        server, ask = self.serve()
        self.assertIn("every user of this machine can read it: chmod o-r", server.log())
        ask.json("PUT", "/v1/queues/orders", self.everything, {})
        text = self.audit.read_text().splitlines()
        self.assertEqual([line.startswith('{"time":"2') for line in text], [True, True])
        self.assertEqual(json.loads(text[1])["act"], "configure")

    def test_what_cannot_be_a_log_is_refused_before_anything_listens(self):
        port_file = self.directory / "port"
        os.mkfifo(self.directory / "fifo")
        for path, says in (("none/audit", "No such file or directory"), (".", "Is a directory"),
                           ("fifo", "it is not a regular file"),
                           ("/dev/null", "it is not a regular file")):
            path = str(self.directory / path)
            with self.subTest(path):
                answer = self.tarry("serve", "--store", self.store, "--listen", "127.0.0.1:0",
                                    "--port-file", str(port_file), "--audit-log", path,
                                    code=USAGE, store="")
                self.assertEqual(answer.err, f'tarry: --audit-log "{path}": {says}\n')
                self.assertFalse(port_file.exists())
                self.assertFalse((self.directory / "store").exists())


class CommandLine(Audited):
    """tarry audit-log"""

    def audit_log(self, *words, **more):
        return self.tarry("audit-log", *words, "-o", "json", store="", **more)

    def chosen(self, *words, **more):
        return [json.loads(line) for line in self.audit_log(*words, **more).out.splitlines()]

    def setUp(self):
        super().setUp()
        _, ask = self.serve()
        ask.json("PUT", "/v1/queues/shop.eu", self.everything, {})
        ask.json("POST", "/v1/queues/shop.eu/cancel", self.everything, {"keys": ["a", "b"]})
        ask("POST", "/v1/queues/bank/purge", self.reader, {})
        ask.json("POST", "/v1/queues/bank/cancel", self.everything,
                 {"keys_base64": [base64.b64encode(b"\xff").decode()]})
        self.all = self.lines()
        self.assertEqual(len(self.all), 5)

    def test_filters(self):
        file = str(self.audit)
        for words, count in (
                ((), 5), (("--act", "cancel"), 3), (("--identity", "reader"), 1),
                (("--queue", "shop.*"), 3), (("--queue", "shop"), 0), (("--key", "a"), 1),
                (("--key", b"\xff"), 1), (("--outcome", "unknown"), 3), (("--refused",), 1),
                (("--refused", "--act", "cancel"), 0), (("--since", "2030-01-01T00:00:00Z"), 0),
                (("--until", "2030-01-01T00:00:00Z"), 5), (("--since", self.all[0]["time"]), 5)):
            with self.subTest(words):
                self.assertEqual(len(self.chosen(file, *words)), count)
        self.assertEqual(self.chosen(file), self.all)
        self.assertEqual(self.chosen(stdin=self.audit.read_bytes()), self.all)
        self.assertEqual(self.chosen("-", file, stdin=self.audit.read_bytes()), self.all * 2)

    def test_the_table(self):
        table = self.tarry("audit-log", str(self.audit), store="").out.splitlines()
        self.assertEqual(table[0].split(),
                         ["TIME", "ACT", "IDENTITY", "PEER", "QUEUE", "KEY", "OUTCOME"])
        self.assertEqual(len(table), 6)
        self.assertIn("refused: permission_denied", table[4])

    def test_lines_that_are_none_are_named_and_skipped(self):
        old = self.directory / "audit.jsonl.1"
        old.write_bytes(b'{"time":"2030-01-01T00:00:00Z","act":"purge"}\n\n{"time":"2030\nword\n'
                        b'[]\n{"time":"2030-01-01T00:00:00Z","act":"pause"}\n{"time":"20')
        answer = self.audit_log(str(old), str(self.audit))
        self.assertEqual([json.loads(line)["act"] for line in answer.out.splitlines()],
                         ["purge", "pause"] + [line["act"] for line in self.all])
        self.assertEqual([line.split(": ")[1] for line in answer.err.splitlines()],
                         [f"{old}:{number}" for number in (3, 4, 5, 7)])
        self.assertTrue(all("skipped" in line for line in answer.err.splitlines()), answer)

    def test_a_log_that_grows_is_followed(self):
        with subprocess.Popen([PROGRAM, "audit-log", "-o", "json", "--act", "purge"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=environment()) as process:
            line = json.dumps(self.all[3]).encode() + b"\n"
            for _ in range(3):
                process.stdin.write(line)
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), line)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), DONE)

    def test_bad_words(self):
        file = str(self.audit)
        for words, code, says in (
                ((file, "--act", "prge"), USAGE, "purge"),
                ((file, "--queue", "a*b"), USAGE, '"a*b"'),
                ((file, "--since", "yesterday"), USAGE, "yesterday"),
                ((str(self.directory / "none"),), FAILED, "No such file"),
                ((str(self.directory),), FAILED, "Is a directory")):
            with self.subTest(words):
                self.refused("audit-log", *words, code=code, says=says, store="")


if __name__ == "__main__":
    unittest.main()
