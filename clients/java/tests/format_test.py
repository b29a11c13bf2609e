#!/usr/bin/env python3
"""format_test.py FOLDER: the Java sources are as google-java-format makes them."""

import hashlib
import os
import subprocess
import sys
import unittest
from pathlib import Path

from build import JVM

HERE = Path(__file__).resolve().parents[1]
FOLDER = Path(sys.argv.pop(1)).resolve()
VERSION = "1.28.0"
MODULES = ("tarry-client", "tarry-spring-boot-starter", "spring-tests")


class Format(unittest.TestCase):
    def formatter(self):
        """Its jar, kept beside the build."""
        jar = FOLDER.parent / f"google-java-format-{VERSION}-all-deps.jar"
        if not jar.exists():
            command = ["mvn", "-q", "-B",
                       "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
                       f"-DoutputDirectory={jar.parent}", "-Dartifact=com.google.googlejavaformat:"
                       f"google-java-format:{VERSION}:jar:all-deps"]
            how = {"capture_output": True, "env": {"MAVEN_OPTS": " ".join(JVM), **os.environ}}
            if subprocess.run([*command, "-o"], **how, check=False).returncode:
                subprocess.run(command, **how, check=True)
        return jar

    def test_sources_are_formatted(self):
        sources = sorted(str(path) for module in MODULES
                         for path in (HERE / module / "src").rglob("*.java"))
        self.assertGreater(len(sources), 80)
        mark = hashlib.sha256(b"\0".join(Path(one).read_bytes() for one in sources)).hexdigest()
        done_before = FOLDER / "formatted"  # the sources that an earlier run has found in order
        if done_before.exists() and done_before.read_text(encoding="utf-8") == mark:
            return
        done = subprocess.run(["java", *JVM, "-jar", str(self.formatter()), "--dry-run", *sources],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done_before.write_text(mark, encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
