#!/usr/bin/env python3
"""tarry top: its output on a terminal and in a pipe, and that it ends; tarry clock advance."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from own_redis import Redis
from program import (DONE, FAILED, PROGRAM, SOURCE, UNKNOWN, UNREACHABLE, USAGE, ProgramTest,
                     Server, environment)


class Terminal:
    """`tarry top` on a terminal of its own."""

    def __init__(self, url, columns=80):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [PROGRAM, "top", "--interval", "100ms"], stdin=self.slave, stdout=self.slave,
            stderr=self.slave, env=environment(TARRY_STORE=url), start_new_session=True)
        self.text = ""

    def read_until(self, word):
        while word not in self.text:
            ready, _, _ = select.select([self.master], [], [], 60)
            if not ready:
                raise AssertionError(f"{word!r} did not come: {self.text!r}")
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Top(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = Server(self.store)
        self.addCleanup(self.server.stop)
        self.store = self.server.url
        self.tarry("push", "orders", "x", "--in", "1h")
        self.tarry("push", "orders", "x")
        self.tarry("push", "mails", "x", "--in", "1h")
        claimed, = self.asked("claim", "orders", "--wait", "60s")["messages"]
        self.tarry("bury", "orders", claimed["receipt"])

    def test_once(self):
        queues = self.asked("top", "--once", "--interval", "100ms")["queues"]
        self.assertEqual([queue["queue"] for queue in queues], ["mails", "orders"])
        orders = queues[1]
        self.assertEqual([orders[name] for name in ("pending", "due", "leased", "dead")],
                         [1, 0, 0, 1])
        self.assertEqual(orders["pushes_per_second"], 0)
        # Nothing was claimed meanwhile, so this is the lateness since the server's start.
        self.assertIn("lateness_p99", orders)
        out = self.tarry("top", "orders", "--once", "--interval", "100ms").out
        self.assertIn(self.server.url, out)
        self.assertNotIn("\x1b", out)
        self.assertNotIn("mails", out)
        self.assertEqual(out.splitlines()[3].split()[:6], ["orders", "1", "0", "0", "1", "no"])

    def test_once_is_after_one_interval(self):
        begun = time.monotonic()
        with subprocess.Popen([PROGRAM, "top", "orders", "--once", "--interval", "2s", "-o",
                               "json"], stdout=subprocess.PIPE, text=True,
                              env=environment(TARRY_STORE=self.store)) as process:
            queue = json.loads(process.stdout.readline())["queues"][0]
        self.assertGreaterEqual(time.monotonic() - begun, 2)
        self.assertEqual(queue["pushes_per_second"], 0, "it is known of the interval")

    def test_a_pipe_has_one_picture_after_another(self):
        with subprocess.Popen([PROGRAM, "top", "orders", "--interval", "100ms", "-o", "json"],
                              stdout=subprocess.PIPE, text=True,
                              env=environment(TARRY_STORE=self.store)) as process:
            first, second = (json.loads(process.stdout.readline())["queues"][0] for _ in range(2))
            # The first output has the lateness since the server's start, and no rates yet.
            self.assertNotIn("pushes_per_second", first)
            self.assertTrue({"at_most_ms", "above_ms"} & set(first["lateness_p99"]))
            self.assertIn("lateness_p50", first)
            self.assertEqual(second["claims_per_second"], 0)
            self.assertNotIn("lateness_p99", second)
            self.tarry("push", "orders", "x")
            claimed, = self.asked("claim", "orders", "--wait", "60s")["messages"]
            self.tarry("ack", "orders", claimed["receipt"])
            seen = set()
            while len(seen) < 4:
                queue = json.loads(process.stdout.readline())["queues"][0]
                seen |= {name for name in ("pushes_per_second", "claims_per_second",
                                           "settles_per_second", "lateness_p99")
                         if queue.get(name)}
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), DONE)

    def test_a_terminal_is_left_as_it_was(self):
        for end in ("q", "\x03", signal.SIGTERM):
            with self.subTest(end=end):
                terminal = Terminal(self.store)
                self.addCleanup(terminal.close)
                terminal.read_until("\x1b[?1049h")
                terminal.read_until("orders")
                self.assertNotEqual(termios.tcgetattr(terminal.slave), terminal.before)
                if end == "\x03":
                    terminal.process.send_signal(signal.SIGINT)
                elif end == "q":
                    os.write(terminal.master, b"xq")
                else:
                    terminal.process.send_signal(end)
                terminal.read_until("\x1b[?1049l")
                self.assertEqual(terminal.process.wait(timeout=60), DONE)
                self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_no_line_is_wider_than_the_terminal(self):
        terminal = Terminal(self.store, columns=30)
        self.addCleanup(terminal.close)
        terminal.read_until("PEND")
        first = re.search(r"http://[^\r\n\x1b]*", terminal.text)[0]
        self.assertTrue(first.startswith(self.store), first)
        self.assertEqual((len(first), first[-1]), (30, "…"))

    def test_other_stores_tell_no_lateness(self):
        files = f"file:{self.directory}/other"
        self.tarry("push", "q", "x", store=files)
        out = self.tarry("top", "--once", "--interval", "100ms", store=files).out
        self.assertEqual(out.splitlines()[3].split(),
                         ["q", "1", "1", "0", "0", "no", "0.0", "0.0", "0.0", "-", "-"])

    def test_a_pause_is_seen(self):
        until = self.asked("queue", "pause", "mails", "--for", "1h")["paused_until"]
        mails, orders = self.asked("top", "--once", "--interval", "100ms")["queues"]
        self.assertEqual((mails["paused"], mails["paused_until"], orders["paused"]),
                         (True, until, False))
        lines = self.tarry("top", "--once", "--interval", "100ms").out.splitlines()
        self.assertEqual([line.split()[5] for line in lines[2:]], ["HELD", "paused", "no"])

    def test_a_limit_is_seen(self):
        self.tarry("queue", "set", "limited", "--max-leased", "1")
        for _ in range(2):
            self.tarry("push", "limited", "x")
        self.tarry("claim", "limited")
        row, = (row for row in self.asked("top", "--once", "--interval", "100ms")["queues"]
                if row["queue"] == "limited")
        self.assertEqual((row["due"], row["leased"], row["limited"]), (1, 1, True))
        table = self.tarry("top", "--once", "--interval", "100ms").out
        line, = (line.split() for line in table.splitlines() if line.startswith("limited"))
        self.assertEqual(line[5], "limit")

    def test_bad_input(self):
        self.refused("top", "nobodys", "--once", code=UNKNOWN, says="nobodys")
        for interval in ("99ms", "61m"):
            self.refused("top", "--interval", interval, says=("100ms", "1h"))
        self.refused("top", store="http://127.0.0.1:1", code=UNREACHABLE)


class Unreadable(Redis):
    def test_it_has_a_row_and_a_reason(self):
        for queue in ("whole", "broken"):
            self.tarry("push", queue, "x", "--in", "1h")
        number = self.redis.ask("HGET", "tarry:{0}:queues", "broken").split()[0]
        self.redis.ask("DEL", f"tarry:{{{number}}}:broken/0:due")
        self.redis.ask("SET", f"tarry:{{{number}}}:broken/0:due", "not ours")
        top = self.asked("top", "--once", "--interval", "100ms", code=FAILED)
        self.assertEqual([queue["queue"] for queue in top["queues"]], ["whole"])
        broken, = top["unreadable"]
        self.assertEqual((broken["queue"], broken["error"]["code"]), ("broken", "damaged"))
        out = self.tarry("top", "--once", "--interval", "100ms", code=FAILED).out
        self.assertRegex(out, r"\nbroken +\? +\? ")
        self.assertIn(f"\nbroken cannot be read: {broken['error']['message']}\n", out)


class Pictures(ProgramTest):
    """The guide's pictures have the same shape as the program's output."""

    def test_the_forecast_of_the_guide(self):
        guide = (SOURCE / "docs/guide/top.md").read_text(encoding="utf-8")
        shown = re.findall(r"^(?:DUE +MESSAGES|now|within \dh)(?= |$)", guide, re.MULTILINE)
        self.tarry("push", "mails", "x", "--in", "30m")
        out = self.tarry("forecast", "mails", "--width", "1h", "--buckets", "6").out
        self.assertEqual(shown, re.findall(r"^(?:DUE +MESSAGES|now|within \dh)(?= |$)", out,
                                           re.MULTILINE))
        self.assertEqual(len(shown), 8)


class Clock(ProgramTest):
    def test_advance(self):
        with Server(self.store, "--test-clock") as server:
            self.tarry("push", "q", "x", "--in", "30d", store=server.url)
            self.assertEqual(self.asked("claim", "q", store=server.url)["messages"], [])
            self.assertEqual(self.asked("clock", "advance", "29d", store=server.url),
                             {"advanced_ms": 29 * 86_400_000})
            self.assertEqual(self.asked("claim", "q", store=server.url)["messages"], [])
            told = self.tarry("clock", "advance", "1d", store=server.url).out
            self.assertEqual(told, "the clock moved forward by 1d\n")
            self.assertEqual(len(self.asked("claim", "q", store=server.url)["messages"]), 1)
            for by, says in (("-1s", '"-1s"'), ("40000d", '"40000d"'), ("soon", '"soon"')):
                self.refused("clock", "advance", by, store=server.url, says=says)
            self.refused("clock", "advance", store=server.url, says="DURATION")

    def test_where_there_is_none(self):
        with Server(self.store) as server:
            self.refused("clock", "advance", "1d", store=server.url, code=UNKNOWN,
                         says="--test-clock")
        self.refused("clock", "advance", "1d", says="http://")
        self.refused("clock", "advance", "1d", store="http://127.0.0.1:1", code=UNREACHABLE)
        self.refused("clock", "advance", "1d", store="nonsense", code=USAGE)


if __name__ == "__main__":
    unittest.main()
