#!/usr/bin/env python3
"""The scripts do what their help says, and refuse unknown arguments before they do anything."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*command):
    return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, check=False)


class Scripts(unittest.TestCase):
    def test_unknown_argument_is_a_usage_error(self):
        for script in ("run", "test", "setup", "format", "tidy", "fuzz", "release", "site"):
            with self.subTest(script):
                said = run(str(ROOT / "scripts" / script), "--no-such-option")
                self.assertEqual(said.returncode, 2, said.stderr)
                self.assertEqual(said.stdout, "")
                self.assertNotEqual(said.stderr, "")

    def test_two_modes_are_one_too_many(self):
        said = run(str(ROOT / "scripts" / "run"), "--build-only", "--demo")
        self.assertEqual(said.returncode, 2)

    def test_help(self):
        for script in ("run", "test", "setup", "tidy", "fuzz", "release", "site"):
            with self.subTest(script):
                said = run(str(ROOT / "scripts" / script), "--help")
                self.assertEqual(said.returncode, 0)
                self.assertIn(f"scripts/{script}", said.stdout)

    def test_unknown_fuzzer_is_named_before_anything_is_built(self):
        said = run(str(ROOT / "scripts" / "fuzz"), "no_such_fuzzer")
        self.assertEqual(said.returncode, 2)
        self.assertIn("no_such_fuzzer", said.stderr)

    def test_shell_syntax(self):
        for script in [*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"]:
            if script.is_file() and script.read_text().startswith("#!/usr/bin/env bash"):
                with self.subTest(script.name):
                    said = run("bash", "-n", str(script))
                    self.assertEqual(said.returncode, 0, said.stderr)


if __name__ == "__main__":
    unittest.main()
