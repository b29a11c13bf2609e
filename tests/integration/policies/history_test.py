#!/usr/bin/env python3
"""tarry history, and GET .../history: the events of a message, and what must not be asked for."""

import json
import unittest
import urllib.request

from program import UNKNOWN, ProgramTest, Server


class History(ProgramTest):
    """A queue of a server, and a store without one."""

    def test_over_a_server(self):
        with Server("memory:", "--test-clock") as server:
            self.store = server.url
            self.asked("queue", "set", "q", "--history", "3", "--remember", "1h")
            self.asked("push", "q", "x", "--key", "k")
            self.asked("clock", "advance", "1s")
            claimed, = self.asked("claim", "q")["messages"]
            reason = 'no\x1b[2J "route"'
            self.asked("bury", "q", claimed["receipt"], "--reason", reason)
            told = self.asked("history", "q", "k")
            self.assertEqual(told["limit"], 3)
            self.assertEqual([one["event"] for one in told["events"]],
                             ["pushed", "claimed", "buried"])
            pushed, got, buried = told["events"]
            self.assertEqual(got["at_ms"] - pushed["at_ms"], 1000)
            self.assertEqual(got["attempt"], 1)
            self.assertRegex(got["by"], r"^127\.0\.0\.1:\d+ .*tarry")
            self.assertEqual(buried["reason"], reason)
            url = f"{server.url}/v1/queues/q/history?key=k"
            with urllib.request.urlopen(url, timeout=60) as answer:
                self.assertEqual(json.load(answer), told)
            table = self.tarry("history", "q", "k").out.splitlines()
            self.assertRegex(table[0], r"^TIME +EVENT +ATTEMPT +DETAILS")
            self.assertIn("by 127.0.0.1:", table[2])
            self.assertIn('no\\x1b[2J "route"', table[3])
            self.asked("dead", "rm", "q", "k")
            self.assertEqual(self.asked("history", "q", "k")["events"][-1]["event"], "cancelled")
            self.refused("history", "q", "none", code=UNKNOWN, says='no message "none"')

    def test_of_a_queue_that_keeps_none(self):
        self.asked("push", "q", "x", "--key", "k")
        told = self.tarry("history", "q", "k")
        self.assertEqual(told.out, "")
        self.assertIn("tarry queue set q --history 20", told.err)
        self.assertEqual(self.asked("history", "q", "k"), {"limit": 0, "events": []})
        self.asked("queue", "set", "q", "--history", "20")
        self.assertIn("nothing has happened", self.tarry("history", "q", "k").err)
        self.asked("reschedule", "q", "k", "--in", "1h")
        self.assertIn("rescheduled", self.tarry("history", "q", "k").out)
        for value in ("0", "101", "many"):
            self.refused("queue", "set", "q", "--history", value,
                         says=("history", value, "1 to 100, or none"))
        self.asked("queue", "set", "q", "--history", "none")
        self.assertEqual(self.asked("history", "q", "k"), {"limit": 0, "events": []})


if __name__ == "__main__":
    unittest.main()
