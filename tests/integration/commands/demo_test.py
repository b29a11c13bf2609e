#!/usr/bin/env python3
"""Runs scripts/demo from beginning to end: it must exit with 0, and print zeros in its table where
zeros belong.
"""

import re
import subprocess
import sys
import unittest

from program import PROGRAM, SOURCE, environment

sys.path.insert(0, str(SOURCE / "examples"))
sys.dont_write_bytecode = True

import make_orders  # noqa: E402  pylint: disable=wrong-import-position


class Demo(unittest.TestCase):
    """The first output that people see must be right."""

    def test_the_table(self):
        finished = subprocess.run([str(SOURCE / "scripts" / "demo"), PROGRAM], text=True,
                                  capture_output=True, timeout=110, env=environment(), check=False)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        rows = dict(re.findall(r"^  (\S.*?)  +(\S.*)$", finished.stdout, re.MULTILINE))
        self.assertEqual(rows["pushed"], "5,000")
        for name in ("early", "lost", "duplicates", "after cancel"):
            self.assertEqual(rows[name], "0")
        cancelled = int(rows["cancelled"].replace(",", ""))
        delivered = int(rows["delivered"].replace(",", ""))
        self.assertEqual(cancelled + delivered, 5000)
        for name in ("lateness p50", "lateness p99", "lateness max"):
            self.assertRegex(rows[name], r"^\d+ ms$")

    def test_a_program_that_is_not_there(self):
        finished = subprocess.run([str(SOURCE / "scripts" / "demo"), "/no/such/program"],
                                  capture_output=True, check=False)
        self.assertEqual(finished.returncode, 2)

    def test_the_orders_are_what_their_maker_makes(self):
        text = (SOURCE / "examples" / "orders.jsonl").read_text(encoding="utf-8")
        self.assertEqual(text, "".join(make_orders.lines()))
        fates = [make_orders.fate(index) for index in range(make_orders.ORDERS)]
        self.assertEqual(fates.count(make_orders.PAID), 1000)
        self.assertEqual(fates.count(make_orders.MOVED), 500)


if __name__ == "__main__":
    unittest.main()
