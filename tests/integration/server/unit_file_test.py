#!/usr/bin/env python3
"""The unit file for systemd: what it denies the server, and what it grants."""

import configparser
import re
import shutil
import subprocess
import unittest

from program import SOURCE

UNIT = SOURCE / "packaging" / "systemd" / "tarry.service"
MOST_EXPOSED = 2.5  # of 10


class UnitFile(unittest.TestCase):
    @unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
    def test_little_is_exposed(self):
        asked = subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(UNIT)],
            capture_output=True, text=True, timeout=100, check=False)
        found = re.search(r"Overall exposure level for tarry\.service: ([\d.]+)", asked.stdout)
        self.assertTrue(found, asked)
        self.assertLess(float(found[1]), MOST_EXPOSED, asked.stdout)

    def test_it_never_gives_up(self):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(UNIT, encoding="utf-8")
        self.assertEqual(unit["Unit"]["StartLimitIntervalSec"], "0")
        self.assertEqual(unit["Service"]["Restart"], "on-failure")

    def test_the_boot_id_can_be_read(self):
        """By the boot id, the store distinguishes one boot from another."""
        self.assertNotIn("\nProcSubset=", UNIT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
