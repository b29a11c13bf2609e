#!/usr/bin/env python3
"""Verbs on all messages that match a filter: cancel, reschedule, dead revive and rm, ls; the route
POST /v1/queues/QUEUE/bulk; pause and resume of several queues.
"""

import json
import signal
import subprocess
import unittest
import urllib.error
import urllib.request

from program import (CONFLICT, DONE, FAILED, PROGRAM, UNKNOWN, ProgramTest, Server, environment,
                     eventually)

DAY = 86_400_000
BASE = 1_893_456_000_000  # 2030-01-01T00:00:00Z


class Filters(ProgramTest):
    """On a file store, by the command line alone."""

    def put(self, *messages, queue="q"):
        """Pushes messages, each given as a key, a due time in milliseconds and headers."""
        lines = "".join(json.dumps({"key": key, "due_ms": due, "headers": headers}) + "\n"
                        for key, due, headers in messages)
        self.tarry("push", queue, "--jsonl", "-", stdin=lines.encode())

    def put_days(self, count, queue="q"):
        """Pushes k0, k1 ...: one message a day, with the shops eu and us in turn."""
        self.put(*((f"k{i}", BASE + i * DAY, {"shop": ("eu", "us")[i % 2], "n": str(i)})
                   for i in range(count)), queue=queue)

    def bury(self, key, reason, queue="q"):
        self.put((key, 1_000_000_000_000, {"shop": "eu"}), queue=queue)
        claimed, = self.asked("claim", queue)["messages"]
        self.tarry("bury", queue, claimed["receipt"], "--reason", reason)

    def keys(self, *flags, queue="q"):
        return sorted(one["key"] for one in self.asked("ls", queue, *flags)["messages"])

    def due(self, key, queue="q"):
        return self.asked("get", queue, key)["due_ms"]

    def test_lists(self):
        self.put_days(10)
        for flags, wanted in (
                (("--due-between", f"{BASE + 2 * DAY},{BASE + 4 * DAY}"), ["k2", "k3"]),
                (("--due-between", "2030-01-09T00:00:00Z,"), ["k8", "k9"]),
                (("--due-between", f",{BASE + 1}"), ["k0"]),
                (("--header", "shop=us", "--header", "n=3"), ["k3"]),
                (("--header", "shop=us", "--due-between", f",{BASE + 4 * DAY}"), ["k1", "k3"]),
                (("--prefix", "k1", "--header", "shop=us"), ["k1"]),
                (("--header", "shop=cn"), []), (("--header", "Shop=eu"), [])):
            with self.subTest(flags):
                self.assertEqual(self.keys(*flags), wanted)

    def test_a_list_of_pages(self):
        self.put_days(25)
        found, after = [], []
        while True:
            page = self.asked("ls", "q", "--header", "shop=us", "--limit", "4", *after)
            self.assertLessEqual(len(page["messages"]), 4)
            found += [one["key"] for one in page["messages"]]
            if not page["more"]:
                break
            after = ["--after", page["next"]]
        self.assertEqual(sorted(found), sorted(f"k{i}" for i in range(1, 25, 2)))

    def test_cancel(self):
        self.put_days(10)
        flags = ("--due-between", f"{BASE},{BASE + 6 * DAY}", "--header", "shop=eu")
        self.assertEqual(self.asked("cancel", "q", *flags, "--dry-run")["matched"], 3)
        self.assertEqual(len(self.keys()), 10)
        gone = self.asked("cancel", "q", *flags)
        self.assertEqual((gone["matched"], gone["outcomes"]), (3, {"cancelled": 3}))
        self.assertEqual(self.keys(), ["k1", "k3", "k5", "k6", "k7", "k8", "k9"])
        self.refused("cancel", "q", "--due-between", f"{BASE},",
                     says=("this matches every", "--yes"))

    def test_reschedule_by(self):
        self.put_days(2_500)  # more messages than one page
        between = f"{BASE},{BASE + 2_000 * DAY}"
        moved = self.asked("reschedule", "q", "--due-between", between, "--by", "6h")
        self.assertEqual(moved["outcomes"], {"rescheduled": 2_000})
        for i in (0, 1, 999, 1_999):
            self.assertEqual(self.due(f"k{i}"), BASE + i * DAY + 6 * 3_600_000, i)
        self.assertEqual(self.due("k2000"), BASE + 2_000 * DAY)
        self.tarry("reschedule", "q", "k0", "k1", "--by=-6h")
        self.assertEqual((self.due("k0"), self.due("k1")), (BASE, BASE + DAY))

    def test_reschedule_to_one_time(self):
        self.put_days(10)
        words = ("reschedule", "q", "--header", "shop=us", "--at", str(BASE + 3 * DAY))
        # K3 has that due time already.
        self.assertEqual(self.asked(*words)["outcomes"], {"rescheduled": 4})
        self.assertEqual(self.asked(*words)["outcomes"], {})
        self.assertEqual(self.keys("--due-between", f"{BASE + 3 * DAY},{BASE + 3 * DAY + 1}"),
                         ["k1", "k3", "k5", "k7", "k9"])

    def test_by_state(self):
        self.bury("dead", "no")
        self.put_days(3)
        self.put(("ready1", 1_000_000_000_000, {}), ("ready2", 1_000_000_000_001, {}))
        self.assertEqual(self.asked("cancel", "q", "--state", "ready", "--yes")["matched"], 2)
        self.assertEqual(self.keys("--state", "dead"), ["dead"])
        self.assertEqual(self.asked("reschedule", "q", "--state", "dead", "--prefix", "d", "--at",
                                    str(BASE))["outcomes"], {"revived": 1})

    def test_the_dead(self):
        for i in range(3):
            self.bury(f"a{i}", "answered 503: busy")
        self.bury("b", "answered 404")
        self.put_days(2)
        reason = ("--reason", "answered 5??*")
        self.assertEqual(self.keys("--state", "dead", *reason), ["a0", "a1", "a2"])
        listed = self.asked("dead", "ls", "q", *reason, "--prefix", "a1")["messages"]
        self.assertEqual([one["key"] for one in listed], ["a1"])
        self.assertEqual(self.asked("dead", "revive", "q", *reason, "--dry-run")["matched"], 3)
        self.assertEqual(self.asked("dead", "revive", "q", "--all", "--dry-run")["matched"], 4)
        revived = self.asked("dead", "revive", "q", *reason, "--prefix", "a0")
        self.assertEqual(revived["outcomes"], {"revived": 1})
        removed = self.asked("dead", "rm", "q", *reason)
        self.assertEqual(removed["outcomes"], {"cancelled": 2})
        self.assertEqual(self.keys("--state", "dead"), ["b"])
        self.assertEqual(self.keys(), ["a0", "b", "k0", "k1"])

    def test_all_the_dead_are_removed_with_yes_only(self):
        for key in ("a", "b"):
            self.bury(key, "no")
        self.put_days(1)
        for words in (("dead", "rm", "q", "--reason", "*"), ("dead", "rm", "q", "--reason", "no"),
                      ("dead", "rm", "q", "--prefix", ""), ("cancel", "q", "--reason", "*"),
                      ("cancel", "q", "--state", "dead", "--header", "shop=eu")):
            with self.subTest(words):
                self.refused(*words, says=("every dead message of queue", "--yes"))
                counted = self.tarry(*words, "--dry-run")
                self.assertRegex(counted.out, r"would match +2")
                self.assertIn("it needs --yes", counted.err)
        self.assertEqual(self.keys("--state", "dead"), ["a", "b"])
        # A revived message is not lost; and a filter removes only the messages that it matches.
        self.assertEqual(self.asked("dead", "revive", "q", "--reason", "*", "--dry-run")["matched"],
                         2)
        self.assertEqual(self.asked("dead", "rm", "q", "--prefix", "a")["matched"], 1)
        gone = self.asked("dead", "rm", "q", "--reason", "*", "--yes")
        self.assertEqual(gone["outcomes"], {"cancelled": 1})
        self.assertEqual(self.keys(), ["k0"])

    def test_misused(self):
        self.put_days(1)
        for words, says in (
                (("cancel", "q", "--due-between", "5"), ("--due-between", "FROM,TO")),
                (("cancel", "q", "--due-between", ","), ("--due-between", "FROM,TO")),
                (("cancel", "q", "--due-between", f"{BASE},{BASE}"), "before the second"),
                (("ls", "q", "--due-between", "monday,"), ("--due-between", "monday")),
                (("cancel", "q", "--header", "shop"), ("--header", "NAME=VALUE")),
                (("cancel", "q", "k0", "--header", "a=b"), "not both"),
                (("cancel", "q", "--state", "remembered"), "remembered"),
                (("reschedule", "q", "--prefix", "k", "--by", "1h", "--in", "1h"), "--by"),
                (("reschedule", "q", "--prefix", "k", "--by", "0s"), "moves nothing"),
                (("reschedule", "q", "k0", "--by=-36500d"), "1970"),
                (("reschedule", "q", "--prefix", "k"), "--by"),
                (("dead", "revive", "q", "--all", "--prefix", "k"), "either"),
                (("dead", "rm", "q"), "--reason"),
                (("dead", "rm", "q", "k", "--dry-run"), "--dry-run")):
            with self.subTest(words):
                self.refused(*words, says=says)
        self.refused("cancel", "q", "--due-between", "1700000000,", says="looks like seconds")
        self.refused("cancel", "nobodys", "--header", "a=b", code=UNKNOWN, says="nobodys")

    def test_several_queues_are_paused(self):
        for queue in ("shop.a", "shop.b", "mail"):
            self.put_days(1, queue=queue)

        def paused():
            return [one["queue"] for one in self.asked("stats")["queues"] if one["paused"]]

        told = self.asked("queue", "pause", "shop.*")["queues"]
        self.assertEqual(told, [{"queue": "shop.a", "paused": True},
                                {"queue": "shop.b", "paused": True}])
        self.assertEqual(sorted(paused()), ["shop.a", "shop.b"])
        self.assertRegex(self.tarry("queue", "resume", "--all").out,
                         r"(?s)mail +not paused.*shop\.a +resumed.*shop\.b +resumed")
        self.assertEqual(paused(), [])
        self.tarry("queue", "pause", "--all", "--for", "1h")
        self.assertEqual(len(paused()), 3)
        self.tarry("queue", "resume", "m*")
        self.assertEqual(sorted(paused()), ["shop.a", "shop.b"])
        self.refused("queue", "pause", "none.*", code=UNKNOWN, says="none.*")
        self.refused("queue", "pause", says="--all")
        self.refused("queue", "resume", "mail", "--all", says="not both")


class OverHttp(Filters):
    """The same on a server, and its route."""

    def setUp(self):
        super().setUp()
        self.server = Server(self.store)
        self.addCleanup(self.server.stop)
        self.store = self.server.url

    def ask(self, status=200, queue="q", **body):
        request = urllib.request.Request(
            f"{self.server.url}/v1/queues/{queue}/bulk", json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.assertEqual(answer.status, status)
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            self.assertEqual(error.code, status, text)
            return json.loads(text)

    def ask_all(self, **body):
        """Asks page after page. Returns how many messages were looked at and matched, and the
        sums."""
        pages, looked, matched, outcomes, after = 0, 0, 0, {}, {}
        while True:
            page = self.ask(**body, **after)
            pages += 1
            looked += page["looked"]
            matched += page["matched"]
            for outcome, count in page["outcomes"].items():
                outcomes[outcome] = outcomes.get(outcome, 0) + count
            self.assertEqual(page["failed"], 0)
            if not page["next"]:
                return pages, looked, matched, outcomes
            after = {"after": page["next"]}

    def test_the_route_cancels(self):
        self.put_days(250)
        self.bury("k-dead", "no")
        body = {"action": "cancel", "headers": {"shop": "us"}, "due_to_ms": BASE + 100 * DAY,
                "limit": 100}
        self.assertEqual(self.ask_all(**body, dry_run=True)[2:], (50, {}))
        pages, looked, matched, outcomes = self.ask_all(**body)
        self.assertGreater(pages, 2)
        self.assertGreater(looked, 199)
        self.assertEqual((matched, outcomes), (50, {"cancelled": 50}))
        self.assertEqual(self.asked("queue", "info", "q")["scheduled"], 200)
        self.assertEqual(self.asked("get", "q", "k-dead")["state"], "dead")

    def test_the_route_moves(self):
        self.put_days(1_500)
        body = {"action": "reschedule", "due_from_ms": BASE, "due_to_ms": BASE + 1_200 * DAY}
        self.assertIn("due_from", self.ask(400, action="reschedule", by="6h")["detail"])
        self.assertIn("at least as long", self.ask(400, **body, by="6h")["detail"])
        _, _, matched, outcomes = self.ask_all(**body, by="1200d", limit=100)
        self.assertEqual((matched, outcomes), (1_200, {"rescheduled": 1_200}))
        self.assertEqual(self.due("k7"), BASE + 1_207 * DAY)
        # A repetition changes nothing.
        self.assertEqual(self.ask_all(**body, by="1200d")[2:], (0, {}))
        to = {"action": "reschedule", "prefix": "k1", "due_ms": BASE, "limit": 100}
        self.assertEqual(self.ask_all(**to)[3], {"rescheduled": 611})
        self.assertEqual(self.ask_all(**to)[2:], (0, {}))

    def test_the_route_revives_and_removes(self):
        for i in range(4):
            self.bury(f"d{i}", f"answered 50{i}")
        self.put_days(3)
        revived = self.ask_all(action="revive", reason="*501")
        self.assertEqual(revived[2:], (1, {"revived": 1}))
        self.assertEqual(self.ask_all(action="remove", reason="answered*")[2:],
                         (3, {"cancelled": 3}))
        self.assertEqual(self.asked("queue", "info", "q")["dead"], 0)
        self.assertEqual(self.asked("get", "q", "d1")["state"], "ready")

    def test_the_route_says_what_is_wrong(self):
        self.put_days(1)
        for body, says in (({}, "action"), ({"action": "stop"}, "cancel, reschedule"),
                           ({"action": "cancel", "state": "remembered"}, "state"),
                           ({"action": "revive", "state": "ready"}, "dead"),
                           ({"action": "cancel", "by": "1h"}, "reschedule"),
                           ({"action": "reschedule"}, "due"),
                           ({"action": "cancel", "limit": 1_001}, "1000"),
                           ({"action": "cancel", "due_from": 2_000_000_000_000,
                             "due_to": 1_900_000_000_000}, "before"),
                           ({"action": "cancel", "headers": 5}, "headers"),
                           ({"action": "cancel", "wrong": 1}, "wrong")):
            with self.subTest(body):
                self.assertIn(says, self.ask(400, **body)["detail"])

    def test_a_signal_ends_it_and_what_was_done_is_told(self):
        self.put_days(3_000)
        process = subprocess.Popen(
            [PROGRAM, "reschedule", "q", "--prefix", "", "--yes", "--by", "1h"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(TARRY_STORE=self.store))
        eventually(lambda: self.server.answered("/v1/queues/*/reschedule") > 0, "a page is moved")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        if process.returncode == DONE:
            self.skipTest("it was done before the signal came")
        self.assertEqual(process.returncode, FAILED, (out, err))
        self.assertIn("stopped by a signal", err.decode())
        self.assertRegex(out.decode(), r"rescheduled +[1-3],?\d{3}")

    def test_what_is_leased_meanwhile_is_told(self):
        self.put(("a", 1_000_000_000_000, {"shop": "eu"}))
        self.asked("claim", "q", "--lease", "1h")
        moved = self.asked("reschedule", "q", "--header", "shop=eu", "--by", "1h", "--yes",
                           code=CONFLICT)
        self.assertEqual(moved["outcomes"], {"in_flight": 1})
        self.assertEqual(self.ask_all(action="cancel")[3], {"stopping": 1})


if __name__ == "__main__":
    unittest.main()
