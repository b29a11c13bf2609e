#!/usr/bin/env python3
"""spring_test.py FOLDER: the Spring Boot starter on Spring Boot 3 and on 4, built in FOLDER.

One Maven runs both, with one jar of the starter. The versions that it needs come from the local
repository if they are there.
"""

import importlib
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
FOLDER = Path(sys.argv.pop(1)).resolve()
GUIDE = HERE.parents[1] / "docs/guide"
EXAMPLE = HERE / "spring-tests/src/test/java/shop/OrdersTest.java"
TESTS = 15  # of each version


def maven(*words):
    fast = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
    done = subprocess.run(["mvn", "-q", "-B", "-T2", *words, "test"], cwd=FOLDER,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500,
                          env={**os.environ, "MAVEN_OPTS": fast}, check=False)
    return done.returncode, done.stdout + done.stderr


class Spring(unittest.TestCase):
    def test_on_both_versions(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(HERE, FOLDER, ignore=shutil.ignore_patterns("target", "tests"))
        code, said = maven("-o")
        if code != 0 and "offline" in said:
            code, said = maven()
        self.assertEqual(code, 0, said[-20000:])
        for boot in ("boot3", "boot4"):
            with self.subTest(boot):
                reports = FOLDER.glob(f"spring-tests/{boot}/target/surefire-reports/*.txt")
                runs = re.findall(r"Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0",
                                  "".join(one.read_text(encoding="utf-8") for one in reports))
                self.assertEqual(sum(map(int, runs)), TESTS)

    def test_the_guides_have_the_example(self):
        example = EXAMPLE.read_text(encoding="utf-8")
        for guide in ("java.md", "java.zh-CN.md"):
            text = (GUIDE / guide).read_text(encoding="utf-8")
            self.assertIn(f"```java\n{example}```\n", text, guide)
        lines = [line for line in example.splitlines() if line.strip()]
        self.assertLessEqual(len(lines), 25)

    def test_versions_are_the_programs(self):
        sys.path.insert(0, str(HERE.parents[1] / "packaging"))
        java = importlib.import_module("clients.java")
        version = importlib.import_module("tree").version()
        self.assertEqual(set(java.versions().values()), {version})
        text = (GUIDE / "java.md").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall("<version>(.*)</version>", text)), {version})

    def test_the_metadata_describes_each_property(self):
        made = FOLDER / "tarry-spring-boot-starter/target/classes/META-INF"
        text = (made / "spring-configuration-metadata.json").read_text(encoding="utf-8")
        for name in ("tarry.url", "tarry.fail-fast", "tarry.listener.lease",
                     "management.health.tarry.enabled"):
            self.assertIn(f'"{name}"', text)


if __name__ == "__main__":
    unittest.main()
