#!/usr/bin/env python3
"""guide_test.py FOLDER: the guide's programs run as they stand, with the client built in FOLDER."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "clients/conformance"))
import readme  # noqa: E402

JAR = Path(sys.argv.pop(1)).resolve() / "tarry-client.jar"
BLOCK = re.compile(r"<!-- run([^>]*) -->\n```java\n(.*?)```", re.DOTALL)


class Guide(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / "docs/guide/java.md").read_text(encoding="utf-8")
        self.blocks = BLOCK.findall(self.text)

    def test_each_program_runs(self):
        self.assertGreaterEqual(len(self.blocks), 3)
        for words, program in self.blocks:
            name = re.search(r"public class (\w+)", program)[1]
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                file = Path(place, f"{name}.java")
                file.write_text(program, encoding="utf-8")
                done = subprocess.run(
                    ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp",
                     str(JAR), str(file)],
                    capture_output=True, text=True, timeout=100, env=os.environ, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                for word in re.findall(r'"([^"]*)"', words):
                    self.assertIn(word, done.stdout)

    def test_the_readme(self):
        page = SOURCE / "clients/java/README.md"
        said = readme.said(page, "Orders.java", ["java", "-XX:TieredStopAtLevel=1", "-cp",
                                                 str(JAR), "Orders.java"])
        self.assertEqual(said, ["cancelled order:43", "closed order:42"])

    def test_every_program_is_run(self):
        spring = self.text.count("<!-- spring -->\n```java\n")  # spring_test.py runs it
        self.assertEqual(self.text.count("```java\n"), len(self.blocks) + spring)

    def test_the_order_example_is_short(self):
        program = next(text for _, text in self.blocks if "class Orders" in text)
        self.assertLessEqual(len(program.splitlines()), 60)


if __name__ == "__main__":
    unittest.main()
