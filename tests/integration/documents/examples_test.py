#!/usr/bin/env python3
"""Runs the examples unchanged; they must print what they promise."""

import subprocess
import unittest
from pathlib import Path
from urllib.parse import quote

from pages import blocks
from program import PROGRAM, SOURCE, ProgramTest, Server, environment


class Examples(ProgramTest):

    def run_example(self, name, *words, stdin=""):
        program = Path(PROGRAM).parent / "examples" / f"example_{name}"
        done = subprocess.run([program, *words], input=stdin, text=True, capture_output=True,
                              timeout=100, cwd=self.directory, env=environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_each_is_run_here(self):
        sources = {path.stem for path in Path(SOURCE, "examples").glob("*.cpp")}
        tests = {name[len("test_"):] for name in dir(self) if name.startswith("test_")}
        self.assertLessEqual(sources, tests)

    def test_order_timeout(self):
        expected = ["order:42 cancelled", "closing order:43: a kettle"]
        self.assertEqual(self.run_example("order_timeout"), expected)
        self.assertTrue((self.directory / "orders-store").is_dir())
        self.assertEqual(self.run_example("order_timeout", "memory:"), expected)
        with Server("memory:") as server:
            self.assertEqual(self.run_example("order_timeout", server.url), expected)

    def test_claim_and_ack(self):
        self.assertEqual(self.run_example("claim_and_ack"), ["order:42: a lamp", "done"])

    def test_callbacks(self):
        expected = ["order:42 pushed", "closing order:42: a lamp", "done"]
        self.assertEqual(self.run_example("callbacks"), expected)
        with Server("memory:") as server:
            self.assertEqual(self.run_example("callbacks", server.url), expected)

    def test_until_stopped(self):
        expected = ["order:42: a lamp", "done", "stopped"]
        self.assertEqual(self.run_example("until_stopped"), expected)
        with Server("memory:") as server:
            self.assertEqual(self.run_example("until_stopped", server.url), expected)

    def test_watching(self):
        self.assertEqual(self.run_example("watching"),
                         ["1 claimed", 'tarry_pushes_total{queue="orders"} 1',
                          'tarry_lateness_seconds_count{queue="orders"} 1'])

    def test_time_travel(self):
        self.assertEqual(self.run_example("time_travel"), ["not a millisecond early"])

    def test_schedules(self):
        self.assertEqual(self.run_example("schedules"), ["report@2020-01-01T08:00:00Z"])

    def test_retry_backoff(self):
        lines = self.run_example("retry_backoff")
        self.assertEqual([line for line in lines if line.startswith("invoice:7")],
                         ["invoice:7, attempt 1: 503", "invoice:7, attempt 2: 503",
                          "invoice:7, attempt 3: 200", "invoice:7 once more: settled"])
        self.assertIn("invoice:bad is set aside: refused with 422", lines)

    def test_shop(self):
        self.assertEqual(self.run_example("shop"),
                         ["orders: 100 acked",
                          "mails: 2 failed, the last with: no such mail server",
                          "mail:1 is dead"])

    def test_trial_test(self):
        self.assertEqual(self.run_example("trial_test"), ["ann: a week left", "ann: over"])

    def look_inside(self, path):
        """Starts the example, which runs until `communicate`."""
        program = Path(PROGRAM).parent / "examples" / "example_look_inside"
        running = subprocess.Popen([program, path], text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=self.directory, env=environment())
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def test_look_inside(self):
        path = self.directory / "shop 1.sock"
        running = self.look_inside("shop 1.sock")
        url = running.stdout.readline().rstrip("\n")
        self.assertEqual(url, "http+unix://" + quote(str(path)))
        self.assertEqual(running.stdout.readline(), "pushed\n")
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        # Every verb works, with the ordinary command line.
        self.assertIn("order:42", self.tarry("ls", "orders", store=url).out)
        self.asked("reschedule", "orders", "order:42", "--in", "0s", store=url)
        self.asked("push", "orders", "-", "--key", "large", "--in", "1h", store=url,
                   stdin=b"x" * 1_000_000)
        message, = self.asked("claim", "orders", "--wait", "10s", store=url)["messages"]
        self.assertEqual(message["payload"], "a lamp")
        self.asked("ack", "orders", message["receipt"], store=url)
        self.assertIn("orders", self.tarry("stats", store=url).out)
        shown, = [text for mark, _, text in blocks("docs/guide/cpp.md") if mark == "look_inside"]
        commands = shown.replace("tarry ", f"{PROGRAM} ").replace(
            "http+unix:///srv/shop/shop.sock", f"'{url}'")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], text=True,
                              capture_output=True, timeout=100, env=environment(), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("large", done.stdout)
        # A second program is told that the socket is taken, and harms nothing.
        second = self.look_inside("shop 1.sock")
        err = second.communicate(timeout=60)[1]
        self.assertEqual(second.returncode, 1)
        self.assertIn("Address already in use", err)
        self.tarry("get", "orders", "large", store=url)
        # A clean end removes the file.
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 0)
        self.assertFalse(path.exists())
        self.refused("stats", code=5, says=("cannot connect", str(path)), store=url)

    def test_look_inside_after_a_crash(self):
        path = self.directory / "shop.sock"
        first = self.look_inside("shop.sock")
        url = first.stdout.readline().rstrip("\n")
        first.kill()
        first.wait(timeout=60)
        self.assertTrue(path.exists())
        second = self.look_inside("shop.sock")
        self.assertEqual(second.stdout.readline().rstrip("\n"), url)
        self.tarry("stats", store=url)
        second.communicate(timeout=60)

    def test_look_inside_refused(self):
        (self.directory / "file").write_text("mine")
        for path, said in (("file", "no socket"), ("x" * 108, "bytes, at most 107"),
                           ("nowhere/s", "No such file")):
            refused = self.look_inside(path)
            err = refused.communicate(timeout=60)[1]
            self.assertEqual(refused.returncode, 1)
            self.assertIn(said, err)
        self.assertEqual((self.directory / "file").read_text(), "mine")

    def test_debounce(self):
        self.assertEqual(self.run_example("debounce"),
                         ["change 1: pushed", "change 2: replaced",
                          "rendering product:lamp, version 20", "1 rendering"])

    def test_reminders(self):
        lines = self.run_example("reminders", self.store, stdin="""\
add tea 0.2 take it out
add call 3600 the dentist
add late 3600 too late
move call 0.1
drop late
drop nobody
show
add
""")
        self.assertEqual(sum(line == "pushed" for line in lines), 3)
        for line in ("rescheduled", "cancelled", "unknown", "REMINDER tea: take it out",
                     "REMINDER call: the dentist"):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith("add NAME") for line in lines))
        self.assertFalse(any("too late" in line for line in lines))

    def test_reminders_outlive_the_program(self):
        self.asked("push", "reminders", "from before", "--key", "old")
        self.assertEqual(self.run_example("reminders", self.store), ["REMINDER old: from before"])


if __name__ == "__main__":
    unittest.main()
