#!/usr/bin/env python3
"""Where the machine gives few file descriptors: a plain error, and nothing half done."""

import resource
import signal
import subprocess
import unittest

from program import DONE, PROGRAM, UNREACHABLE, ProgramTest, environment

MOST = 40


class Few(ProgramTest):
    def run_with(self, limit, *words):
        return subprocess.run(
            [PROGRAM, "--store", f"{self.store}?shards=4", *words], capture_output=True, text=True,
            timeout=100, env=environment(), check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))

    def test_a_push_works_or_says_why(self):
        self.asked("push", "orders", "first", "--key", "0", store=f"{self.store}?shards=4")
        pushed, refused = 1, 0
        for limit in range(4, MOST):
            done = self.run_with(limit, "push", "orders", "x", "--key", str(limit))
            # Before main, where not even the program's libraries can be opened.
            if done.returncode == 127 and "error while loading shared libraries" in done.stderr:
                continue
            self.assertNotEqual(done.returncode, -signal.SIGABRT, f"{limit}: {done.stderr}")
            if done.returncode == DONE:
                pushed += 1
                continue
            refused += 1
            self.assertEqual(done.returncode, UNREACHABLE, f"{limit}: {done.stderr}")
            self.assertRegex(done.stderr, r"^tarry: .*Too many open files")
        self.assertGreater(refused, 0)
        self.assertGreater(pushed, 1)
        stats, = self.asked("stats")["queues"]
        self.assertEqual(stats["ready"], pushed)
        self.assertTrue(self.asked("store", "audit")["balanced"])


if __name__ == "__main__":
    unittest.main()
