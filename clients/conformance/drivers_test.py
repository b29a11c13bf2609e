#!/usr/bin/env python3
"""The drivers of the table are as small as README.md says."""

import unittest
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
DRIVERS = ("go/conformance/main.go", "java/conformance/Driver.java",
           "python/conformance/driver.py", "typescript/conformance/driver.mjs")


class Drivers(unittest.TestCase):
    def test_size(self):
        for name in DRIVERS:
            lines = (CLIENTS / name).read_text(encoding="utf-8").splitlines()
            self.assertLessEqual(sum(bool(line.strip()) for line in lines), 200, name)


if __name__ == "__main__":
    unittest.main()
