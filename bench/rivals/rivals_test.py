"""The arguments of scripts/bench rivals, its tables, and how they get into the page."""

import contextlib
import io
import os
import sys
import unittest

import run
from entries import Entry
from install import Failed
from process import Process, memory_bytes, processor_seconds, runs, tree
from servers import Server
from table import BEGIN, END, put_into, text

LINE = {"id": "beanstalkd", "round": 1, "skipped": "", "failures": "", "range": {},
        "results": {"single_rate": 12345, "single_cpu_us": 44.44, "late_p50_ms": 0.21,
                    "late_p99_ms": 1234, "memory_bytes": 304.7, "disk_bytes": 0,
                    "restart_s": 0.0765}}
RUN = {"quick": False, "date": "D1", "ended": "D2", "cpu": "C", "cores": 2, "memory": "M",
       "kernel": "K", "load": "0.1", "packages": {"redis-server": "7"}, "rounds": 1,
       "pending": 100_000}


class Arguments(unittest.TestCase):
    def refused(self, *words):
        with contextlib.redirect_stderr(io.StringIO()) as told, \
                self.assertRaises(SystemExit) as ended:
            run.arguments(["tarry", *words])
        self.assertEqual(ended.exception.code, 2)
        return told.getvalue()

    def test_rounds_and_names(self):
        options = run.arguments(["tarry", "--only", "nats,beanstalkd"])
        self.assertEqual((options.only, options.rounds), (["nats", "beanstalkd"], 3))
        self.assertEqual(run.arguments(["tarry", "--quick"]).rounds, 1)
        self.assertEqual(run.arguments(["tarry", "--quick", "--rounds", "2"]).rounds, 2)

    def test_an_unknown_name_is_refused_with_those_that_there_are(self):
        told = self.refused("--only", "nats,natz")
        self.assertIn("no rival natz", told)
        self.assertIn("beanstalkd", told)

    def test_no_rounds_are_refused(self):
        self.assertIn("at least 1", self.refused("--rounds", "0"))


class Installing(unittest.TestCase):
    def test_what_cannot_be_installed_is_named_and_left_out(self):
        def refuse(_programs):
            raise Failed("no network")

        def entry(name, program, needed=()):
            return Entry(name, name, "", "", type("Any", (Server,), {"needed": needed}), program)

        with contextlib.redirect_stderr(io.StringIO()) as told:
            there, missing = run.installed(
                [entry("a", refuse), entry("b", lambda programs: ["b"]),
                 entry("c", lambda programs: ["c"], ("no-such-program",))], None)
        self.assertEqual(there, {"b": ["b"]})
        self.assertEqual(missing, {"a": "no network",
                                   "c": "no-such-program is not installed"})
        self.assertIn("without a: no network", told.getvalue())


class Table(unittest.TestCase):
    def test_a_row(self):
        told = text(RUN, [LINE])
        self.assertIn("| 12.3k | - | 44.4 | - | 0.21 ms | 1.23 s | 304.7 | - | 76.5 ms |", told)
        self.assertIn("100,000 messages", told)
        self.assertNotIn("NATS", told)
        self.assertNotIn("Left out", told)
        self.assertNotIn("--quick", told)

    def test_several_rounds_have_their_range(self):
        told = text({**RUN, "rounds": 2}, [{**LINE, "range": {"single_rate": (12000, 12700)}}])
        self.assertIn("| 12.3k (12k to 12.7k) |", told)
        self.assertIn("2 rounds", told)

    def test_what_is_left_out_is_named(self):
        nats = {**LINE, "id": "nats", "skipped": "no network", "results": {}}
        self.assertIn("Left out, or only in part:\n\n- nats: no network", text(RUN, [LINE, nats]))

    def test_a_busy_machine_is_said(self):
        self.assertIn("other programs", text({**RUN, "load": "2.0"}, [LINE]))
        self.assertNotIn("other programs", text(RUN, [LINE]))

    def test_only_what_is_between_the_marks_changes(self):
        page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
        self.assertEqual(put_into(page, "new"), f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n")
        self.assertRaises(ValueError, put_into, "no marks", "new")

    def test_the_page_has_the_marks(self):
        put_into(run.PAGE.read_text(encoding="utf-8"), "new")


class Processes(unittest.TestCase):
    def test_a_tree_is_counted_and_killed_whole(self):
        # A child in a session of its own, as PostgreSQL's are.
        server = Process(["sh", "-c", "setsid sleep 600 & wait"], os.devnull,
                         lambda: len(tree(server.pid)) == 2)
        server.start()
        pids = tree(server.pid)
        self.assertGreater(memory_bytes([server.pid]), 0)
        self.assertGreaterEqual(processor_seconds([server.pid]), 0)
        server.kill()
        self.assertFalse(any(map(runs, pids)))


if __name__ == "__main__":
    sys.exit(unittest.main())
