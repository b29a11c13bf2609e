#!/usr/bin/env python3
"""`tarry schedule`: what its commands do and refuse, and a server that runs the schedules."""

import unittest

from program import CONFLICT, UNKNOWN, ProgramTest, Server, eventually


class ScheduleTest(ProgramTest):
    """A server whose clock begins at 2020-01-01T00:00:00Z, a Wednesday, and stands still."""

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server("memory:", "--test-clock"))
        self.store = self.server.url

    def add(self, name, *words, **more):
        return self.asked("schedule", "add", name, *words, **more)

    def settled(self):
        """Waits until the server has carried out everything that is due."""
        def is_settled():
            timers = self.asked("queue", "info", "tarry.timers", code=None)
            return timers.get("ready") == timers.get("leased") == 0
        eventually(is_settled, "the timers are carried out")

    def advance(self, by):
        self.settled()
        self.tarry("clock", "advance", by)
        self.settled()

    def claimed(self, queue="reports"):
        """Claims and acks what is due."""
        found = self.asked("claim", queue, "--max", "1000")["messages"]
        if found:
            self.tarry("ack", queue, *(each["receipt"] for each in found))
        return found

    def keys(self):
        return [each["key"] for each in self.claimed()]

    def test_a_schedule_from_beginning_to_end(self):
        self.assertEqual(self.asked("schedule", "ls"), {"schedules": []})
        self.assertEqual(self.add("report", "every 15m", "reports", "hello"),
                         {"name": "report", "outcome": "added"})
        self.advance("15m")
        found, = self.claimed()
        self.assertEqual((found["key"], found["payload"], found["due"]),
                         ("report@2020-01-01T00:15:00Z", "hello", "2020-01-01T00:15:00.000Z"))
        self.assertEqual(self.add("report", "every 10m", "reports"),
                         {"name": "report", "outcome": "replaced"})
        self.advance("15m")
        self.assertEqual(self.keys(),
                         ["report@2020-01-01T00:20:00Z", "report@2020-01-01T00:30:00Z"])
        listed, = self.asked("schedule", "ls")["schedules"]
        self.assertEqual((listed["name"], listed["when"], listed["queue"], listed["next"]),
                         ("report", "every 10m", "reports", "2020-01-01T00:40:00.000Z"))
        self.assertIn("every 10m", self.tarry("schedule", "ls").out)

        self.tarry("schedule", "pause", "report")
        self.assertIn("paused", self.tarry("schedule", "show", "report").out)
        self.advance("30m")
        self.assertEqual(self.keys(), [])
        self.tarry("schedule", "resume", "report")
        self.advance("10m")
        self.assertEqual(self.keys(), ["report@2020-01-01T01:10:00Z"])

        pushed = self.asked("schedule", "run", "report")
        self.assertEqual(self.keys(), [pushed["key"]])
        self.assertTrue(pushed["key"].startswith("report@run."))

        self.assertEqual(self.asked("schedule", "rm", "report")["outcome"], "removed")
        self.advance("1d")
        self.assertEqual(self.keys(), [])
        for verb in ("show", "pause", "resume", "run", "rm"):
            self.refused("schedule", verb, "report", code=UNKNOWN, says='no schedule "report"')

    def test_every_flag(self):
        self.asked("schedule", "add", "nine", "0 9 * * MON-FRI", "reports", "-", "--zone",
                   "Europe/Berlin", "--start", "2020-01-02T08:00:00Z", "--end",
                   "2020-01-03T08:30:00Z", "--jitter", "10m", "--header", "kind=daily",
                   "--priority", "7", "--missed", "all", stdin=b"\xff")
        shown = self.asked("schedule", "show", "nine")
        self.assertEqual(
            {name: shown[name] for name in ("zone", "start", "end", "jitter_ms", "headers",
                                            "priority", "missed", "paused", "payload_base64")},
            {"zone": "Europe/Berlin", "start": "2020-01-02T08:00:00.000Z",
             "end": "2020-01-03T08:30:00.000Z", "jitter_ms": 600_000,
             "headers": {"kind": "daily"}, "priority": 7, "missed": "all", "paused": False,
             "payload_base64": "/w=="})
        self.advance("10d")
        found = self.claimed()
        self.assertEqual([each["key"] for each in found],
                         ["nine@2020-01-02T08:00:00Z", "nine@2020-01-03T08:00:00Z"])
        for each in found:
            self.assertEqual((each["headers"], each["priority"]), ({"kind": "daily"}, 7))
            due = each["due_ms"] % 3_600_000
            self.assertTrue(0 < due < 600_000, due)
        planned = self.asked("schedule", "next", "0 9 * * MON-FRI", "--zone", "Europe/Berlin",
                             "--jitter", "10m", "--name", "nine", "--from",
                             "2020-01-02T00:00:00Z", "--count", "2")["occurrences"]
        self.assertEqual([each["due_ms"] for each in found], [each["due_ms"] for each in planned])

    def test_what_becomes_of_missed_occurrences(self):
        for policy in ("skip", "one", "all"):
            self.add(policy, "every 6h", policy, "--missed", policy)
        self.advance("25h")
        self.assertEqual({policy: len(self.claimed(policy)) for policy in ("skip", "one", "all")},
                         {"skip": 0, "one": 1, "all": 4})

    def test_refuses_in_one_line(self):
        for words, line in (
                (("a", "0 0 30 2 *", "q"), "such a day never comes"),
                (("a", "*/61 * * * *", "q"), 'step "61" must be from 1 to 59'),
                (("a", "@daily", "q", "--zone", "Mars/Base"), 'no time zone "Mars/Base"'),
                (("a", "@daily", "q", "--start", "2026-01-02T00:00:00Z", "--end",
                  "2026-01-01T00:00:00Z"), "is before the start"),
                (("a", "every 15m", "q", "--jitter", "16m"), "jitter 16m is longer than"),
                (("a@b", "@daily", "q"), 'schedule "a@b": a name is 1 to 128'),
                (("a", "@daily", "a b"), '"a b"'),
                (("a", "@daily", "q", "--header", "x"), "must be NAME=VALUE"),
                (("a", "@daily", "q", "--missed", "none"), "skip, one, all")):
            answer = self.refused("schedule", "add", *words, says=line)
            self.assertEqual(answer.err.count("\n"), 1, answer.err)

    def test_a_store_that_cannot_keep_schedules(self):
        store = "redis://127.0.0.1:1?layout=plain"
        answer = self.tarry("schedule", "ls", store=store, code=None)
        self.assertNotIn(answer.code, (0, UNKNOWN, CONFLICT), answer)


if __name__ == "__main__":
    unittest.main()
