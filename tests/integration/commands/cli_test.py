#!/usr/bin/env python3
"""The command line on a file store: verbs, answers, exit codes, bad input."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from program import (CONFLICT, DONE, FAILED, PROGRAM, UNKNOWN, UNREACHABLE, USAGE, ProgramTest,
                     Server, environment)


class Verbs(ProgramTest):
    """The verb table of docs/semantics.md on the command line."""

    def test_push_and_get(self):
        pushed = self.asked("push", "q", "hello", "--in", "1h", "--key", "k", "--priority", "7",
                            "--header", "a=b=c", "--header", "d=")
        self.assertEqual(pushed["outcome"], "pushed")
        self.assertEqual(pushed["key"], "k")
        info = self.asked("get", "q", "k")
        self.assertEqual(info["payload"], "hello")
        self.assertEqual(info["state"], "scheduled")
        self.assertEqual(info["id"], pushed["id"])
        self.assertEqual(info["due_ms"], pushed["due_ms"])
        self.assertEqual(info["priority"], 7)
        self.assertEqual(info["headers"], {"a": "b=c", "d": ""})

    def test_push_now_makes_a_key(self):
        pushed = self.asked("push", "q", "hello")
        self.assertTrue(pushed["key"])
        message, = self.asked("claim", "q")["messages"]
        self.assertEqual(message["key"], pushed["key"])
        self.assertEqual(message["payload"], "hello")
        self.assertGreaterEqual(message["claimed_ms"], message["due_ms"])

    def test_push_at_a_time(self):
        pushed = self.asked("push", "q", "--at", "2030-01-31T09:00:00+01:00")
        self.assertEqual(pushed["due"], "2030-01-31T08:00:00.000Z")
        again = self.asked("push", "q", "--at", str(pushed["due_ms"]))
        self.assertEqual(again["due_ms"], pushed["due_ms"])

    def test_push_from_standard_input(self):
        payload = bytes(range(256)) * 2000
        self.asked("push", "q", "-", "--key", "k", "--in", "1h", stdin=payload)
        self.assertIn("payload_base64", self.asked("get", "q", "k"))

    def test_commands_at_once_wait_for_each_other(self):
        pushes = [subprocess.Popen([PROGRAM, "--store", self.store, "push", "q", "--key", f"k{i}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=environment()) for i in range(4)]
        for push in pushes:
            _, said = push.communicate(timeout=60)
            self.assertEqual(push.returncode, DONE, said)
        self.assertEqual(self.asked("stats")["queues"][0]["ready"], 4)

    def test_a_new_store_is_said_and_none_is_made_by_a_slip(self):
        self.assertIn("made the directory", self.tarry("push", "q", "--in", "1h").err)
        self.assertEqual(self.tarry("push", "q", "--in", "1h").err, "")
        for name in ("~", "~/shop"):
            self.refused("push", "q", store=f"file:{name}", says=(f'"{name}"', "./~"))
        self.assertFalse((self.directory / "~").exists())
        self.asked("push", "q", store="file:./~")
        for inside in ("store/inner", "store/shard-000/a/b"):
            self.refused("push", "q", store=f"file:{self.directory}/{inside}",
                         says="lies in another store")
            self.assertFalse((self.directory / inside).exists())

    def test_words_that_look_odd(self):
        for payload in ("{}", "[]", "[1,2]", "[a]", "", "--", "-5", "-x", "a,b", "{\"a\":[1]}"):
            with self.subTest(payload):
                words = ["-o", "json", "push", "odd", "--in", "1h", "--", payload]
                pushed = self.tarry(*(words if payload.startswith("-") else
                                      [word for word in words if word != "--"])).json
                self.assertEqual(self.asked("get", "odd", pushed["key"])["payload"], payload)
        for word in ("--", "--x=", "--x=--", "\x1f", "--x=\x1f", "[a]\x1f", ""):
            with self.subTest(word):
                pushed = self.tarry("-o", "json", "push", "odd", "--in", "1h",
                                    f"--header=h={word}", "--", word).json
                message = self.asked("get", "odd", pushed["key"])
                self.assertEqual((message["payload"], message["headers"]["h"]), (word, word))
        pushed = self.asked("push", "odd", "--in", "1h", "--key=--")
        self.assertEqual(pushed["key"], "--")
        pushed = self.asked("push", "odd", "--in", "1h", "--key", "--x=")
        self.assertEqual(pushed["key"], "--x=")
        for key in ("[1,2]", "[k]", "a,b", "push", "claim", "queue"):
            with self.subTest(key):
                self.asked("push", "ls", "x", "--in", "1h", "--key", key)
                results = self.asked("cancel", "ls", key, key, code=UNKNOWN)["results"]
                self.assertEqual([r["outcome"] for r in results], ["cancelled", "unknown"])
                self.assertEqual(results[0]["key"], key)

    def test_words_that_look_like_the_flag_for_json(self):
        for words in (("--", "-ojson"), ("x", "--key", "-ojson"), ("--", "--output=json")):
            with self.subTest(words):
                self.assertIn("OUTCOME", self.tarry("push", "odd", "--in", "1h", *words).out)
        refused = self.refused("push", "odd", "--in", "soon", "--", "-ojson")
        self.assertEqual(len(refused.err.splitlines()), 1)

    def test_if_exists(self):
        def push(rule, delay, code=DONE):
            words = ["push", "q", f"by {rule}", "--key", "k", "--in", delay]
            return self.asked(*words, *(["--if-exists", rule] if rule else []), code=code)

        first = push("", "1h")
        self.assertEqual(push("", "2h", CONFLICT)["outcome"], "exists")
        self.assertEqual(push("reject", "2h", CONFLICT)["outcome"], "exists")
        kept = push("keep", "2h")
        self.assertEqual((kept["outcome"], kept["due_ms"]), ("kept", first["due_ms"]))
        self.assertEqual(push("later", "30m")["outcome"], "kept")
        self.assertEqual(push("later", "2h")["outcome"], "moved")
        self.assertEqual(push("earlier", "3h")["outcome"], "kept")
        self.assertEqual(push("earlier", "1h")["outcome"], "moved")
        self.assertEqual(self.asked("get", "q", "k")["payload"], "by ")
        self.assertEqual(push("replace", "5h")["outcome"], "replaced")
        self.assertEqual(self.asked("get", "q", "k")["payload"], "by replace")

    def test_absent(self):
        self.make_store()
        self.tarry("cancel", "q", "nobody", code=UNKNOWN)
        self.tarry("reschedule", "q", "nobody", "--in", "1h", code=UNKNOWN)
        self.refused("get", "q", "nobody", code=UNKNOWN)
        self.refused("queue", "info", "nobody", code=UNKNOWN)
        self.assertEqual(self.asked("claim", "q"), {"messages": []})

    def test_scheduled(self):
        self.asked("push", "q", "x", "--key", "k", "--in", "1h")
        moved = self.asked("reschedule", "q", "k", "--in", "2h")["results"][0]
        self.assertEqual(moved["outcome"], "rescheduled")
        self.assertEqual(self.asked("get", "q", "k")["due_ms"], moved["due_ms"])
        self.assertEqual(self.asked("cancel", "q", "k")["results"][0]["outcome"], "cancelled")
        self.tarry("cancel", "q", "k", code=UNKNOWN)

    def test_leased(self):
        self.asked("push", "q", "x", "--key", "k")
        message, = self.asked("claim", "q", "--lease", "1h")["messages"]
        self.assertEqual(self.asked("get", "q", "k")["state"], "leased")
        pushed = self.asked("push", "q", "x", "--key", "k", code=CONFLICT)
        self.assertEqual(pushed["outcome"], "in_flight")
        moved = self.asked("reschedule", "q", "k", "--in", "1h", code=CONFLICT)
        self.assertEqual(moved["results"][0]["outcome"], "in_flight")
        cancelled = self.asked("cancel", "q", "k", code=CONFLICT)
        self.assertEqual(cancelled["results"][0]["outcome"], "stopping")
        done = self.asked("ack", "q", message["receipt"])
        self.assertEqual(done["results"][0]["outcome"], "done")
        stale = self.asked("ack", "q", message["receipt"], code=CONFLICT)
        self.assertEqual(stale["results"][0]["outcome"], "stale")

    def test_release_retry_bury(self):
        self.asked("push", "q", "x", "--key", "k")
        attempts = []
        for verb in (["release"], ["retry", "--in", "1ms", "--reason", "busy"],
                     ["bury", "--reason", "no such order"]):
            message, = self.asked("claim", "q", "--wait", "10s")["messages"]
            attempts.append(message["attempt"])
            self.asked(verb[0], "q", message["receipt"], *verb[1:])
        self.assertEqual(attempts, [1, 1, 2])  # a release is not counted
        info = self.asked("get", "q", "k")
        self.assertEqual((info["state"], info["reason"]), ("dead", "no such order"))
        self.assertEqual(self.asked("ls", "q", "--state", "dead")["messages"][0]["key"], "k")
        revived = self.asked("reschedule", "q", "k", "--in", "0s")["results"][0]
        self.assertEqual(revived["outcome"], "revived")
        self.assertEqual(len(self.asked("claim", "q", "--wait", "10s")["messages"]), 1)

    def test_a_new_priority(self):
        self.asked("push", "q", "x", "--key", "k", "--in", "1h")
        self.asked("reschedule", "q", "k", "--in", "0s", "--priority", "1")
        priorities = []
        for verb in (["release", "--priority", "2"], ["retry", "--in", "0s", "--priority", "3"],
                     ["bury", "--priority", "4"]):
            message, = self.asked("claim", "q", "--wait", "10s")["messages"]
            priorities.append(message["priority"])
            self.asked(verb[0], "q", message["receipt"], *verb[1:])
        self.assertEqual(priorities, [1, 2, 3])
        self.assertEqual(self.asked("get", "q", "k")["priority"], 4)

    def test_claim_no_more_bytes_than_asked(self):
        for key in "ab":
            self.asked("push", "q", "x" * 100, "--key", key)
        for _ in "ab":
            claimed = self.asked("claim", "q", "--max", "9", "--max-bytes", "150")["messages"]
            self.assertEqual(len(claimed), 1)

    def test_claim_waits_and_is_never_early(self):
        self.asked("push", "q", "x", "--in", "300ms")
        self.assertEqual(self.asked("claim", "q")["messages"], [])
        message, = self.asked("claim", "q", "--wait", "30s")["messages"]
        self.assertGreaterEqual(message["claimed_ms"], message["due_ms"])
        self.assertGreaterEqual(time.time_ns() // 10**6, message["due_ms"])

    def test_several_keys_and_queues(self):
        for queue in ("a", "b"):
            self.asked("push", queue, "x", "--key", "k")
        messages = self.asked("claim", "a", "b", "--max", "10")["messages"]
        self.assertEqual({m["queue"] for m in messages}, {"a", "b"})
        results = self.asked("get", "a", "k", "nobody", code=UNKNOWN)["results"]
        self.assertEqual(results[0]["key"], "k")
        self.assertEqual(results[1]["error"]["code"], "not_found")

    def test_stats(self):
        self.asked("push", "q", "x", "--in", "1h")
        self.asked("push", "q", "x")
        self.assertEqual([q["queue"] for q in self.asked("queue", "ls")["queues"]], ["q"])
        info = self.asked("queue", "info", "q")
        self.assertEqual((info["scheduled"], info["ready"]), (1, 1))
        self.assertEqual(self.asked("stats", "q"), info)
        self.assertEqual(self.asked("stats")["queues"], [info])
        self.assertEqual(self.asked("store", "audit"),
                         {"balanced": True,
                          "queues": [{"queue": "q", "accepted": 2, "present": 2, "ended": 0,
                                      "difference": 0}]})

    def test_forecast(self):
        self.asked("push", "q", "x")
        for delay in ("90s", "10m", "19m", "19m"):
            self.asked("push", "q", "x", "--in", delay)
        # The whole forecast fits in 20 rows.
        fitted = self.asked("forecast", "q")
        self.assertEqual((fitted["width_ms"], fitted["due_now"], fitted["later"]), (60_000, 1, 0))
        self.assertEqual(fitted["buckets"], [0, 1] + 7 * [0] + [1] + 8 * [0] + [2])
        asked = self.asked("forecast", "q", "--width", "5m", "--buckets", "2")
        self.assertEqual(asked, {"width_ms": 300_000, "due_now": 1, "buckets": [1, 1], "later": 2})
        lines = self.tarry("forecast", "q", "--buckets", "2").out.splitlines()
        self.assertEqual([line.split()[:3] for line in lines],
                         [["DUE", "MESSAGES"], ["now", "1", lines[1].split()[2]],
                          ["within", "1m", "0"], ["within", "2m", "1"],
                          ["later", "3", lines[4].split()[2]]])
        self.assertGreater(lines[4].count("█"), lines[3].count("█"))
        self.asked("queue", "set", "empty", "--lease", "1m")
        none = self.asked("forecast", "empty")
        self.assertEqual((none["due_now"], none["later"], none["buckets"]), (0, 0, []))
        self.assertIn("1 to 10000", self.tarry("forecast", "q", "--buckets", "0", code=2).err)
        self.assertIn("--width", self.tarry("forecast", "q", "--width", "soon", code=2).err)

    def test_listing(self):
        for i in range(30):
            self.asked("push", "q", "x", "--key", f"{'even' if i % 2 == 0 else 'odd'}:{i}",
                       "--in", "1h")
        self.assertEqual(len(self.asked("ls", "q")["messages"]), 30)
        even = self.asked("ls", "q", "--prefix", "even:")["messages"]
        self.assertEqual({m["key"] for m in even}, {f"even:{i}" for i in range(0, 30, 2)})
        first = self.asked("ls", "q", "--limit", "10")
        self.assertEqual((len(first["messages"]), first["more"]), (10, True))
        self.assertIn(f"--after {first['next']}", self.tarry("ls", "q", "--limit", "10").err)
        rest = self.asked("ls", "q", "--limit", "20", "--after", first["next"])
        self.assertEqual((rest["more"], rest["next"]), (False, ""))
        whole = self.asked("ls", "q", "--limit", "30")
        self.assertEqual((len(whole["messages"]), whole["more"], whole["next"]), (30, False, ""))
        self.assertEqual({m["key"] for m in first["messages"] + rest["messages"]},
                         {f"{'even' if i % 2 == 0 else 'odd'}:{i}" for i in range(30)})
        self.assertIn("after", self.tarry("ls", "q", "--after", "nonsense", code=2).err)
        for words in (("ls", "q"), ("dead", "ls", "q")):
            self.refused(*words, "--limit", "1000001", says=("--limit", "1000001", "1 to 1000000"))

    def test_listing_many(self):
        lines = "".join(f'{{"key":"{i}","delay":"1h"}}\n' for i in range(10_001))
        self.tarry("push", "q", "--jsonl", "-", stdin=lines.encode())
        # More messages than one list request may ask for, so the command sends several.
        for limit, more in (("20000", False), ("10001", False), ("10000", True)):
            listed = self.asked("ls", "q", "--limit", limit)
            keys = {message["key"] for message in listed["messages"]}
            self.assertEqual((len(keys), len(listed["messages"]), listed["more"]),
                             (10_001 - more, 10_001 - more, more))


class Tables(ProgramTest):
    """The output for people."""

    def test_every_answer_has_a_table(self):
        self.assertIn("pushed", self.tarry("push", "q", "x", "--key", "k").out)
        self.tarry("push", "later", "x", "--key", "l", "--in", "1h")
        self.assertIn("scheduled", self.tarry("ls", "later").out)
        claimed = self.tarry("claim", "q").out.splitlines()
        self.assertEqual(claimed[0].split(), ["KEY", "ID", "ATTEMPT", "LATE", "PAYLOAD", "RECEIPT"])
        receipt = claimed[1].split()[-1]
        self.assertIn("leased", self.tarry("get", "q", "k").out)
        self.assertIn("done", self.tarry("ack", "q", receipt).out)
        self.assertIn("unknown", self.tarry("cancel", "q", "k", code=UNKNOWN).out)
        for words in (["queue", "ls"], ["queue", "info", "q"], ["stats"], ["stats", "q"],
                      ["store", "info"], ["store", "check"], ["store", "check", "--deep"],
                      ["store", "audit"], ["version"]):
            with self.subTest(words):
                self.assertTrue(self.tarry(*words).out)

    def test_nothing_is_due(self):
        self.make_store()
        self.tarry("push", "q", "x", "--in", "1h")
        self.tarry("queue", "pause", "r")
        for name, why in (("q", "Nothing is due in queue q: 1 scheduled.\n"),
                          ("r", "Queue r is paused: it is empty.\n"),
                          ("s", "There is no queue s.\n")):
            answer = self.tarry("claim", name)
            self.assertEqual((answer.out, answer.err), ("", why))
        self.assertEqual(self.tarry("claim", "q", "-o", "json").err, "")

    def test_control_characters_are_escaped(self):
        self.tarry("push", "q", "\x1b[2Jboo\n", "--key", "a\x07\u202eb", "--in", "1h")
        for words in (["ls", "q"], ["get", "q", "a\x07\u202eb"]):
            out = self.tarry(*words).out
            self.assertIn("a\\x07\\u{202e}b", out)
            self.assertNotIn("\x1b", out)

    def test_no_table_is_cut_in_a_pipe(self):
        key = "k" * 500
        self.tarry("push", "q", "p" * 5000, "--key", key, "--in", "1h")
        self.assertIn(key, self.tarry("ls", "q").out)
        self.assertIn("p" * 5000, self.tarry("get", "q", key).out)

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            finished = subprocess.run([PROGRAM, "version"], stdout=full, stderr=subprocess.PIPE,
                                      env=environment(), check=False)
        self.assertEqual(finished.returncode, FAILED)
        self.assertIn(b"cannot write the output", finished.stderr)


class BadInput(ProgramTest):
    """Bad input: one clear line that names the value and the limit, the right exit code, and no
    change."""

    def tearDown(self):
        self.assertFalse((self.directory / "store").exists()
                         and self.asked("queue", "ls")["queues"])

    def test_usage(self):
        cases = [
            ([], "needs a command"),
            (["pusg", "q"], 'did you mean "push"?'),
            (["queue"], "tarry queue needs a command"),
            (["queue", "lss"], 'did you mean "ls"?'),
            (["queue", "--", "ls"], '"ls" stands after --; put the command before --'),
            (["--", "push", "q"], "needs a command"),
            (["--store"], "--store needs a value: URL"),
            (["queue", "-o"], "--output needs a value: table|json"),
            (["bury", "q", "r1", "--reason", "--", "x"],
             "--reason: needs a value; to give the value --, write --reason=--"),
            (["push", "q", "--header", "--", "x"], "--header: needs a value"),
            (["--store", "--", "ls"], "--store: needs a value"),
            (["push", "q", "--key=", "x"], '--key ""'),
            (["work", "."], "work needs a command after --"),
            (["--store", "memory:", "work", ".", "--", "true"],
             'queue name "." is a step within a path'),
            (["work", "a", "b", "a", "--", "true"], 'queue "a" is named twice'),
            (["relay", "..", "--to", "stdout"], 'queue name ".." is a step within a path'),
            (["push", "q", "x", "--kye", "k"], "did you mean --key?"),
            (["push", "q", "x", "--prioritty=7"], "did you mean --priority?"),
            (["push", "q", "x", "--frobnicate"],
             'unknown flag "--frobnicate" (known: --in, --at, '),
            (["get", "q", "k", "--by=5m"],
             'unknown flag "--by=5m". To pass a value that starts with'),
            (["push", "q", "x", "--in", "1s", "--in", "2s"], "--in is given 2 times"),
            (["push", "q", "x", "--in"], "--in needs a value: DURATION"),
            (["push", "q", "-x"], "To pass a value that starts with '-', put it after --"),
            (["push", "q", "x", "--", "-y"], 'one argument too many: "-y"'),
            (["queue", "pause", "q", "--for", "0s"], "--for 0s"),
            (["export", "x"], "did you mean tarry store export?"),
            (["push", "q", "x", "y"], 'one argument too many: "y"'),
            (["push"], "QUEUE"),
            (["cancel", "q"], "KEY"),
            (["reschedule", "q", "k"], "needs --in, --at or --by"),
            (["reschedule", "q", "--prefix", "k", "--in", "1h", "--priority", "1"], "--priority"),
            (["work", "q"], "needs a command after --"),
            (["work", "q", "--", "no-such-program"], '"no-such-program"'),
            (["push", "q", "--in", "1h", "--at", "2030-01-01T00:00:00Z"], "excludes"),
            (["push", "q", "--in"], "--in"),
            (["-o", "xml", "stats"], '"xml"'),
            (["ls", "q", "--state", "sheduled"], 'did you mean "scheduled"?'),
            (["push", "q", "--if-exists", "replce"], 'did you mean "replace"?'),
            (["push", "q", "--header", "novalue"], '"novalue"'),
            (["push", "q", "--key", ""], '--key ""'),
            (["push", "q", "--jsonl", "/no/such/file"], '"/no/such/file"'),
            (["push", "q", "x", "--jsonl", "-"], "--jsonl"),
        ]
        for words, says in cases:
            with self.subTest(words):
                answer = self.refused(*words, says=says)
                self.assertEqual(len(answer.err.splitlines()), 1, answer)

    def test_values(self):
        cases = [
            (["push", "", "x"], "queue"),
            (["push", "q" * 128, "x"], "127"),
            (["push", "a b", "x"], '"a b"'),
            (["push", "q", "x", "--key", "k" * 513], "512"),
            (["push", "q", "x", "--in", "-5s"], '"-5s"'),
            (["push", "q", "x", "--in", "5"], '"5"'),
            (["push", "q", "x", "--in", "soon"], '"soon"'),
            (["push", "q", "x", "--in", "101y"], '"101y"'),
            (["push", "q", "x", "--in", "40000d"], '"40000d"'),
            (["push", "q", "x", "--at", "2030-01-31T09:00:00"], "offset"),
            (["push", "q", "x", "--at", "2300-01-01T00:00:00Z"], "2300"),
            (["push", "q", "x", "--at", "tomorrow"], '"tomorrow"'),
            (["push", "q", "x", "--priority", "4294967296"], "4294967295"),
            (["push", "q", "x", "--at", "1700000000"], "looks like seconds"),
            (["queue", "pause", "q", "--until", "1700000000"], "looks like seconds"),
            (["push", "q", "x", "--priority", "-1"], '"-1"'),
            (["push", "q", "x", "--max-attempts", "0"], '"0"'),
            (["push", "q", "x", "--header", "bad name=x"], "bad name"),
            (["push", "q", "x", "--header", "n=" + "v" * 17000], "16"),
            (["claim", "q", "--max", "10001"], "10000"),
            (["claim", "q", "--max-bytes", "134217729"], "134217728"),
            (["claim", "q", "--lease", "8d"], "8d"),
            (["claim", "q", "--wait", "2h"], "2h"),
            (["bury", "q", "r", "--reason", "x" * 256], "255"),
            (["ack", "q", "rubbish"], "receipt"),
        ]
        self.make_store()
        for words, says in cases:
            with self.subTest([word[:40] for word in words]):
                answer = self.refused(*words, says=says)
                self.assertEqual(len(answer.err.splitlines()), 1, answer)

    def test_of_several_receipts_each_has_its_row(self):
        self.make_store()
        answer = self.tarry("ack", "q", "rubbish", "litter", code=USAGE)
        self.assertEqual([line.split() for line in answer.out.splitlines()[1:]],
                         [["failed", "rubbish"], ["failed", "litter"]])
        self.assertEqual(len(answer.err.splitlines()), 2, answer)


    def test_payload_over_the_limit(self):
        answer = self.tarry("push", "q", "-", stdin=b"x" * (2**20 + 1), code=USAGE)
        self.assertIn("1048576", answer.err)

    def test_stores(self):
        (self.directory / "plain").write_text("no store")
        (self.directory / "other").mkdir()
        (self.directory / "other" / "thesis.txt").write_text("precious")
        cases = [
            ("", USAGE), ("nonsense", USAGE), ("ftp://x", USAGE), ("file:", USAGE),
            (f"{self.store}?sync=sometimes", USAGE), (f"{self.store}?colour=blue", USAGE),
            (f"{self.store}?shards=0", USAGE), ("http://", USAGE),
            ("http://127.0.0.1:99999", USAGE), ("http://127.0.0.1:1", UNREACHABLE),
        ]
        for url, code in cases:
            with self.subTest(url):
                answer = self.tarry("--store", url or "x", "stats", code=code)
                self.assertTrue(answer.err.startswith("tarry: "), answer)
                self.assertEqual(len(answer.err.splitlines()), 1, answer)
        for path in ("plain", "other"):
            answer = self.tarry("--store", f"file:{path}", "stats", code=USAGE)
            self.assertIn(path, answer.err)
        self.assertEqual(os.listdir(self.directory / "other"), ["thesis.txt"])

    def test_a_store_that_is_not_there(self):
        """Only push and serve make a store."""
        for words in (["get", "q", "k"], ["ls", "q"], ["stats"], ["queue", "ls"],
                      ["queue", "info", "q"], ["claim", "q"], ["ack", "q", "r"],
                      ["retry", "q", "r"], ["release", "q", "r"], ["bury", "q", "r"],
                      ["cancel", "q", "k"], ["reschedule", "q", "k", "--in", "1s"],
                      ["work", "q", "--", "true"], ["store", "audit"], ["store", "info"],
                      ["store", "check"], ["store", "salvage", "new"]):
            with self.subTest(words):
                answer = self.refused(*words, store="file:typo", code=UNREACHABLE, says="typo")
                self.assertEqual(len(answer.err.splitlines()), 1, answer)
                self.assertFalse((self.directory / "typo").exists())

    def test_shards_are_fixed(self):
        self.make_store()
        answer = self.refused("stats", store=f"{self.store}?shards=2", says="shards=1")
        self.assertEqual(len(answer.err.splitlines()), 1, answer)

    def test_a_store_that_is_held(self):
        with Server(self.store) as server:
            answer = self.refused("stats", code=UNREACHABLE)
            self.assertIn(str(server.process.pid), answer.err)
            self.tarry("store", "info")  # only the files are read

    def test_errors_as_json(self):
        answer = self.refused("push", "q", "x", "--in", "soon", "-o", "json")
        lines = answer.err.splitlines()
        self.assertEqual(len(lines), 2)
        error = json.loads(lines[1])["error"]
        self.assertEqual(error["code"], "invalid_argument")
        self.assertEqual("tarry: " + error["message"], lines[0])


class Help(ProgramTest):
    """Help is an answer: it is printed on standard output, with exit code 0."""

    COMMANDS = ("serve", "push", "cancel", "get", "reschedule", "claim", "ack", "retry",
                "release", "bury", "work", "ls", "queue", "queue ls", "queue info",
                "queue reshard", "stats", "forecast", "store", "store info", "store check",
                "store audit", "store salvage", "store migrate", "store acl", "bench", "version",
                "why", "config", "config check", "relay", "queue set", "queue pause",
                "queue resume", "queue purge", "queue rm", "dead", "dead ls", "dead revive",
                "dead rm", "extend",
                "top", "health", "clock", "clock advance", "completion", "man",
                "store export", "store import", "store backup", "store upgrade", "intake",
                "token", "token new", "token ls", "token check", "audit-log", "schedule",
                "schedule add", "schedule ls", "schedule show", "schedule next", "schedule pause",
                "schedule resume", "schedule run", "schedule rm")

    def test_every_command_has_help_with_examples(self):
        for command in self.COMMANDS:
            with self.subTest(command):
                out = self.tarry(*command.split(), "--help").out
                self.assertIn("Usage: tarry " + command, out)
                self.assertIn("Examples:\n  tarry ", out)

    def test_help_is_a_word_too(self):
        self.assertEqual(self.tarry("help", "push").out, self.tarry("push", "--help").out)
        self.assertEqual(self.tarry("help").out, self.tarry("--help").out)
        for flags in (("-o", "json"), ("--store", "help", "--output=table")):
            self.assertEqual(self.tarry(*flags, "help", "push").out,
                             self.tarry("push", "--help").out)
        for words, says in ((("stor",), 'did you mean "store"'),
                            (("store", "backp"), 'did you mean "backup"'), (("xx", "yy"), '"xx"')):
            self.assertIn(says, self.tarry("help", *words, code=USAGE).err)
            self.refused(*words, "--help", says=says)

    def test_help_carries_out_nothing(self):
        self.asked("push", "q", "x", "--in", "1h", "--key", "k")
        for words in (("work", "q", "--", "true"), ("relay", "q", "--", "true"),
                      ("push", "q", "--", "y"), ("cancel", "q", "--", "k")):
            with self.subTest(words):
                says = self.tarry(words[0], "--help").out
                self.assertEqual(self.tarry("help", *words).out, says)
                self.assertEqual(self.tarry(*words[:2], "--help", *words[2:]).out, says)
        self.assertEqual([m["key"] for m in self.asked("ls", "q")["messages"]], ["k"])

    def test_an_empty_store_is_not_the_default_one(self):
        for words in (("--store", "", "ls", "q"), ("--store=", "ls", "q"), ("ls", "q", "--store="),
                      ("ls", "--store=", "q"), ("work", "q", "--store=", "--", "true")):
            with self.subTest(words):
                self.assertIn("--store is empty", self.tarry(*words, code=USAGE).err)

    def test_what_is_pushed_into_memory_ends_with_the_program(self):
        for words, stdin in ((("push", "q", "hello"), b""),
                             (("push", "q", "--jsonl", "-"), b'{"payload":"hello"}\n')):
            with self.subTest(words):
                said = self.tarry(*words, store="memory:", stdin=stdin).err
                self.assertIn("a memory: store ends with this command", said)
                self.assertNotIn("memory:", self.tarry(*words, stdin=stdin).err)

    def test_a_mistyped_variable_for_the_store(self):
        """The default is used instead, and the error names the mistyped variable."""
        said = self.tarry("stats", store="", code=UNREACHABLE, TARRY_STROE=self.store).err
        self.assertIn("TARRY_STROE is set, but nothing reads it; did you mean TARRY_STORE?", said)
        said = self.tarry("--store", "http://127.0.0.1:1", "stats", store="", code=UNREACHABLE,
                          TARRY_STROE=self.store).err
        self.assertNotIn("TARRY_STROE", said)

    def test_the_program_names_its_commands_and_exit_codes(self):
        out = self.tarry("--help").out
        for command in self.COMMANDS:
            self.assertIn("\n  " + command.split()[0] + " ", out)
        self.assertIn("5 store not reachable", out)

    def test_help_fits_in_100_columns(self):
        for command in ("", *self.COMMANDS):
            for line in self.tarry(*command.split(), "--help").out.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_version(self):
        self.assertRegex(self.tarry("--version").out, r"^tarry \d+\.\d+\.\d+\n$")
        self.assertEqual(self.asked("version")["engines"], ["embedded", "remote", "redis"])
        for words in (("version", "--json"), ("--json", "version")):
            self.assertEqual(self.tarry(*words).json, self.asked("version"))


class StoreFiles(ProgramTest):
    """store info and store check read the files, and change nothing."""

    def snapshot(self):
        return {path.relative_to(self.directory): path.read_bytes()
                for path in sorted((self.directory / "store").rglob("*")) if path.is_file()}

    def test_they_change_nothing(self):
        for i in range(20):
            self.asked("push", "q", f"payload {i}", "--in", "1h")
        before = self.snapshot()
        info = self.asked("store", "info")
        self.assertEqual(info["per_shard"][0]["messages"], 20)
        self.assertEqual(self.asked("store", "check", "--deep")["problems"], 0)
        upgrade = self.asked("store", "upgrade")
        self.assertEqual(upgrade, {"version": info["version"], "newest": info["version"],
                                   "upgraded": False})
        self.assertIs(upgrade["upgraded"], False, "0 would be equal to it")
        self.assertRegex(self.tarry("store", "upgrade").out, "format version 2, .*nothing")
        self.assertEqual(self.snapshot(), before)

    def test_they_make_nothing(self):
        self.make_store()
        lock = self.directory / "store" / "LOCK"
        lock.write_bytes(b"pid 1 that was killed\n")
        for words in (["info"], ["check"], ["check", "--deep"]):
            self.asked("store", *words)
            self.assertEqual(lock.read_bytes(), b"pid 1 that was killed\n")
        lock.unlink()
        for words in (["info"], ["check"], ["check", "--deep"]):
            self.asked("store", *words)
            self.assertFalse(lock.exists())

    def test_a_shard_that_is_missing(self):
        self.make_store()
        shutil.rmtree(self.directory / "store" / "shard-000")
        for words in (["stats"], ["push", "q", "x"]):
            self.refused(*words, code=FAILED, says="shard-000")
            self.assertFalse((self.directory / "store" / "shard-000").exists())
        self.assertIn("shard-000", self.tarry("store", "check", code=FAILED).err)

    def test_only_files_have_files(self):
        self.refused("store", "info", store="http://127.0.0.1:1", says="file:PATH")
        self.refused("store", "upgrade", store="http://127.0.0.1:1", says="file:PATH")
        self.refused("store", "upgrade", store="file:/nowhere/at/all", code=UNREACHABLE,
                     says="there is no store at")
        self.refused("queue", "set", "q", "--lease", "1m", store="file:/nowhere/at/all",
                     code=UNREACHABLE, says="`tarry push` or `tarry serve` creates one")
        self.refused("store", "check", store="memory:", says="file:PATH")

    def test_no_store_there(self):
        self.refused("store", "check", store=f"file:{self.directory}/nothing", code=UNREACHABLE)
        self.assertFalse((self.directory / "nothing").exists())


class StoreLog(ProgramTest):
    """Messages of the store's log go to standard error, and do not make the command fail."""

    def test_a_clock_that_went_back(self):
        with Server(self.store, "--test-clock") as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            self.addCleanup(connection.close)
            connection.request("POST", "/v1/clock/advance", '{"by":"36500d"}',
                               {"Content-Type": "application/json"})
            self.assertEqual(connection.getresponse().status, 200)
            self.asked("push", "q", "x", store=server.url)
        answer = self.tarry("queue", "ls")
        self.assertRegex(answer.err,
                         r"^tarry: shard 0: the wall clock reads \d+ ms less than [^\n]*\n$")


class Signals(ProgramTest):
    """`tarry ls | head` ends quietly."""

    def test_a_reader_that_has_gone(self):
        with subprocess.Popen([PROGRAM, "--help"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment()) as process:
            process.stdout.close()
            code = process.wait(timeout=60)
            self.assertIn(code, (-signal.SIGPIPE, DONE, FAILED))


if __name__ == "__main__":
    unittest.main()
