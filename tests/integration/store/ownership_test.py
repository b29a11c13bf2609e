#!/usr/bin/env python3
"""Commands of root beside a service: the service's user can open every file that they leave in its
store.
"""

import os
import shutil
import subprocess
import unittest

from program import DONE, PROGRAM, ProgramTest, environment

USER, GROUP = 65534, 65534  # the user nobody, who owns nothing else here


@unittest.skipUnless(os.geteuid() == 0, "needs to be root")
class Ownership(ProgramTest):
    def setUp(self):
        super().setUp()
        # The user must reach the store, and a program: the built one may be in a place that only
        # root may enter.
        os.chmod(self.directory, 0o755)
        self.program = self.directory / "tarry"
        shutil.copy(PROGRAM, self.program)
        os.chmod(self.program, 0o755)
        (self.directory / "store").mkdir()
        os.chown(self.directory / "store", USER, GROUP)

    def as_user(self, *words):
        done = subprocess.run([self.program, "--store", self.store, *words], user=USER, group=GROUP,
                              extra_groups=[], capture_output=True, timeout=100, check=False,
                              env=environment(), cwd="/")
        self.assertEqual(done.returncode, DONE, (words, done.stderr))
        return done.stdout

    def owners(self):
        paths = [self.directory / "store", *(self.directory / "store").rglob("*")]
        return {(status.st_uid, status.st_gid) for status in map(os.lstat, paths)}

    def test_root_makes_the_store_and_its_user_goes_on(self):
        self.tarry("push", "q", "x", "--key", "root")
        self.assertEqual(self.owners(), {(USER, GROUP)})
        self.as_user("push", "q", "x", "--key", "user")
        for words in (("get", "q", "user"), ("stats",), ("claim", "q"),
                      ("queue", "purge", "q", "--yes")):
            self.tarry(*words)
        self.assertEqual(self.owners(), {(USER, GROUP)})
        self.as_user("push", "q", "x", "--key", "again")

    def test_a_file_that_is_there_stays_its_owners(self):
        """A link to a file of root's does not give that file away."""
        self.as_user("push", "q", "x")
        lock = self.directory / "store" / "LOCK"
        mine = self.directory / "mine"
        mine.write_bytes(b"")
        lock.unlink(missing_ok=True)
        os.link(mine, lock)
        subprocess.run([PROGRAM, "--store", self.store, "stats"], capture_output=True, timeout=100,
                       env=environment(), check=False)
        self.assertEqual(mine.stat().st_uid, 0)

    def test_roots_own_store_stays_roots(self):
        os.chown(self.directory / "store", 0, 0)
        self.tarry("push", "q", "x")
        self.assertEqual(self.owners(), {(0, 0)})


if __name__ == "__main__":
    unittest.main()
