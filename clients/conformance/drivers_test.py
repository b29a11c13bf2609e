#!/usr/bin/env python3
"""The drivers of the table are as small as README.md says."""

import unittest
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
# All files of each driver, and how many lines it may have.
DRIVERS = {
    "Go": (200, ["go/conformance/main.go"]),
    "Java": (240, ["java/conformance/Driver.java"]),
    "Python": (200, ["python/conformance/driver.py", "python/conformance/protocol.py"]),
    "asyncio": (200, ["python/conformance/driver_asyncio.py", "python/conformance/protocol.py"]),
    "TypeScript": (200, ["typescript/conformance/driver.mjs"]),
}
PROGRAMS = {"go/conformance/chaos", "java/conformance/Chaos.java",
            "typescript/conformance/chaos.mjs"}


class Drivers(unittest.TestCase):
    def test_size(self):
        for client, (most, names) in DRIVERS.items():
            lines = [line for name in names
                     for line in (CLIENTS / name).read_text(encoding="utf-8").splitlines()]
            self.assertLessEqual(sum(bool(line.strip()) for line in lines), most, client)

    def test_no_file_is_left_out(self):
        found = {str(path.relative_to(CLIENTS)) for path in CLIENTS.glob("*/conformance/*")
                 if path.name != "__pycache__"}
        counted = {name for _, names in DRIVERS.values() for name in names}
        self.assertEqual(found - PROGRAMS, counted)


if __name__ == "__main__":
    unittest.main()
